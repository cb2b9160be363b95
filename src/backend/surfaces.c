#include "backend/surfaces.h"

#include <math.h>
#include <string.h>

#include "larmor/physics/particles/tiling.h"

int lm_setup_is_open(const struct lm_setup *setup)
{
    const int *of = setup->grid.sides.of;
    return of[LM_X_MIN] != LM_PERIODIC || of[LM_Y_MIN] != LM_PERIODIC || setup->bodies.count > 0;
}

struct lm_surfaces lm_surfaces_make(const struct lm_setup *setup, int species, const struct lm_pass *pass,
                                    const uint8_t *body, const uint8_t *near_body)
{
    struct lm_surfaces s = {.body = body,
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

/* Whether the cell, which may lie beyond a periodic side, is a body's. */
static int is_body(const struct lm_setup *setup, int i, int j)
{
    const struct lm_grid *g = &setup->grid;
    if (g->sides.of[LM_X_MIN] != LM_PERIODIC && (i < 0 || i >= g->nx))
        return 0;
    if (g->sides.of[LM_Y_MIN] != LM_PERIODIC && (j < 0 || j >= g->ny))
        return 0;
    return setup->bodies.mask[(size_t)lm_wrap(j, g->ny) * (size_t)g->nx + (size_t)lm_wrap(i, g->nx)] != 0;
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

/* Faces of body k, as lm_hit numbers them; returns how many. */
static uint32_t body_faces(const struct lm_grid *g, const uint8_t *mask, int k, uint32_t *faces)
{
    static const int step[LM_SIDES][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    uint32_t count = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t cell = (size_t)j * (size_t)g->nx + (size_t)i;
            for (int d = 0; d < LM_SIDES && mask[cell] == k + 1; d++) {
                int x = i + step[d][0], y = j + step[d][1];
                if ((x < 0 || x >= g->nx || y < 0 || y >= g->ny) && g->sides.of[d] != LM_PERIODIC)
                    continue;
                if (mask[(size_t)lm_wrap(y, g->ny) * (size_t)g->nx + (size_t)lm_wrap(x, g->nx)] != 0)
                    continue;
                if (faces)
                    faces[count] = (uint32_t)(4 * cell) + (uint32_t)d;
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
            count = body_faces(g, bodies->mask, s - LM_SIDES, faces ? faces + first[s] : NULL);
        first[s + 1] = first[s] + count;
    }
}
