#include "backend/surfaces.h"

#include <math.h>
#include <string.h>

#include "larmor/physics/particles/cut.h"
#include "larmor/physics/particles/tiling.h"

int lm_setup_is_open(const struct lm_setup *setup)
{
    const int *of = setup->grid.sides.of;
    return of[LM_X_MIN] != LM_PERIODIC || of[LM_Y_MIN] != LM_PERIODIC || setup->bodies.count > 0;
}

struct lm_surfaces lm_surfaces_make(const struct lm_setup *setup, int species, const struct lm_pass *pass,
                                    const uint8_t *body, const struct lm_body_cut *cut, const uint8_t *near_body)
{
    struct lm_surfaces s = {.body = body,
                            .cut = cut,
                            .near_body = near_body,
                            .cells_x = pass->drift_dt * setup->ohm.inv_dx,
                            .cells_y = pass->drift_dt * setup->ohm.inv_dy,
                            .key = lm_step_key(setup->seed, pass->step),
                            .species = species,
                            .place = setup->grid.place};
    memcpy(s.of, setup->grid.sides.of, sizeof setup->grid.sides.of);
    memcpy(s.of + LM_SIDES, setup->bodies.particles, sizeof setup->bodies.particles);
    memcpy(s.thermal, setup->species[species].thermal, sizeof s.thermal);
    for (int k = 0; k < LM_SURFACES && !pass->move; k++) /* half a step back there is nothing to draw */
        s.of[k] = s.of[k] == LM_THERMAL ? LM_REFLECTING : s.of[k];
    return s;
}

double lm_drawn_speed(double drift, double thermal)
{
    return drift + LM_MOST_SIGMAS * sqrt(3.0) * thermal;
}

double lm_surfaces_speed(const struct lm_setup *setup, int species)
{
    double fastest = 0;
    for (int k = 0; k < LM_SURFACES; k++)
        fastest = fmax(fastest, setup->species[species].thermal[k]);
    return fastest * sqrt(3.0) * LM_MOST_SIGMAS;
}

/* Whether the cell, which may lie beyond a periodic side, meets a body. */
static int is_body(const struct lm_setup *setup, int i, int j)
{
    const struct lm_grid *g = &setup->grid;
    if (g->sides.of[LM_X_MIN] != LM_PERIODIC && (i < 0 || i >= g->nx))
        return 0;
    if (g->sides.of[LM_Y_MIN] != LM_PERIODIC && (j < 0 || j >= g->ny))
        return 0;
    return lm_obstacles_of(&setup->bodies)[(size_t)lm_wrap(j, g->ny) * (size_t)g->nx + (size_t)lm_wrap(i, g->nx)] != 0;
}

static uint8_t has_body(const struct lm_setup *setup, int left, int low, int width, int height)
{
    for (int j = low; j < low + height; j++)
        for (int i = left; i < left + width; i++)
            if (is_body(setup, i, j))
                return 1;
    return 0;
}

void lm_surfaces_mark(const struct lm_setup *setup, uint8_t *near_body, uint8_t *tile)
{
    enum { REACH = 2 }; /* of a window beyond its tile: LM_MARGIN of larmor/physics/particles/tile.h */
    const struct lm_grid *g = &setup->grid;
    const int size = setup->tile;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            *near_body++ = has_body(setup, i - 1, j - 1, 3, 3);
    for (int j = 0; j < g->ny; j += size)
        for (int i = 0; i < g->nx; i += size)
            *tile++ = has_body(setup, i - REACH, j - REACH, size + 2 * REACH, size + 2 * REACH);
}

void lm_surfaces_factors(const struct lm_setup *setup, float *factor)
{
    const float *lent = setup->bodies.obstacles.factor;
    for (size_t k = 0; k < setup->grid.cells; k++)
        factor[k] = lent ? lent[k] : setup->bodies.mask[k] ? 0.0f : 1.0f;
}

/* Whether particles can come to side d of a full cell from the cell there, (x, y): from all but bodies that fill it,
 * and from a cut cell unless this side of it is wholly in the body. */
static int is_open(const struct lm_grid *g, const struct lm_bodies *b, int x, int y, int d)
{
    int64_t low, high;
    if ((x < 0 || x >= g->nx || y < 0 || y >= g->ny) && g->sides.of[d] != LM_PERIODIC)
        return 0;
    const size_t cell = (size_t)lm_wrap(y, g->ny) * (size_t)g->nx + (size_t)lm_wrap(x, g->nx);
    const int of = lm_obstacles_of(b)[cell];
    return of == 0 || (of & LM_CUT && lm_cut_opening(&b->obstacles.cut[cell], d ^ 1, &low, &high) > 0);
}

/* The directions of the faces of cell (i, j), if it is of body k, as bits. */
static unsigned faces_of_cell(const struct lm_grid *g, const struct lm_bodies *b, int k, int i, int j)
{
    static const int step[LM_SIDES][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    const size_t cell = (size_t)j * (size_t)g->nx + (size_t)i;
    const int of = lm_obstacles_of(b)[cell];
    unsigned faces = 0;
    if (of == (LM_CUT | (k + 1)))
        return 1u << lm_cut_direction(&b->obstacles.cut[cell]);
    for (int d = 0; d < LM_SIDES && of == k + 1; d++)
        faces |= is_open(g, b, i + step[d][0], j + step[d][1], d) ? 1u << d : 0;
    return faces;
}

/* Faces of body k, as lm_hit numbers them; returns how many. */
static uint32_t body_faces(const struct lm_grid *g, const struct lm_bodies *b, int k, uint32_t *faces)
{
    uint32_t count = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const unsigned of_cell = faces_of_cell(g, b, k, i, j);
            for (int d = 0; d < LM_SIDES; d++) {
                if (!(of_cell >> d & 1))
                    continue;
                if (faces)
                    faces[count] = 4 * ((uint32_t)j * (uint32_t)g->nx + (uint32_t)i) + (uint32_t)d;
                count++;
            }
        }
    return count;
}

void lm_surfaces_faces(const struct lm_grid *g, const struct lm_bodies *bodies, uint32_t first[LM_SURFACES + 1],
                       uint32_t *faces)
{
    first[0] = 0;
    for (int s = 0; s < LM_SURFACES; s++) {
        uint32_t count = 0;
        if (s < LM_SIDES && g->sides.of[s] != LM_PERIODIC)
            count = (uint32_t)(s < LM_Y_MIN ? g->ny : g->nx);
        for (uint32_t n = 0; faces && s < LM_SIDES && n < count; n++)
            faces[first[s] + n] = n;
        if (s >= LM_SIDES && s - LM_SIDES < bodies->count)
            count = body_faces(g, bodies, s - LM_SIDES, faces ? faces + first[s] : NULL);
        first[s + 1] = first[s] + count;
    }
}
