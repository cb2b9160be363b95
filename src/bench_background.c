/* One background field on a backend of its own, in free fluid or past a wedge. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "larmor/background.h"

enum { POST = 2, POSTS_APART = 13 };

double lm_bench_ripples(double x, double y)
{
    return 1 + 0.5 * sin(16 * M_PI * x) * cos(8 * M_PI * y) + (((int)(64 * x) + (int)(64 * y)) % 7 == 0 ? 1 : 0);
}

double lm_bench_rolls(double x, double y)
{
    return 0.1 * (sin(2 * M_PI * x) + cos(2 * M_PI * y));
}

static struct lm_setup setup_of(const struct lm_bench *b, int nx, int ny, struct lm_background field)
{
    const struct lm_grid g = lm_grid_make(nx, ny, 1.0, (double)ny / nx);
    struct lm_setup s = {.grid = g,
                         .ohm = {.rx = 1 / g.dx, .ry = 1 / g.dy, .floor = 0.1, .gamma = 1},
                         .shape = LM_LINEAR,
                         .precision = LM_DOUBLE,
                         .tile = 8,
                         .threads = b->threads,
                         .species_count = 1,
                         .background_count = 1,
                         .background = {field}};
    s.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1};
    return s;
}

int lm_bench_is_solid(int bodies, const struct lm_grid *g, int i, int j)
{
    const int wedge = (j + 0.5) / g->ny < 0.2 * (i + 0.5) / g->nx;
    const int post = i % POSTS_APART < POST && j % POSTS_APART < POST;
    return bodies != LM_BENCH_FREE && (wedge || (bodies == LM_BENCH_POSTS && post));
}

/* How near the wedge is, so that the flow follows it: 0 on its three sides, 1 away from it; x, y in parts of the box.
 */
static double off_wedge(double x, double y)
{
    const double width = 0.3, above = fmin(y - 0.2 * x, 1 - y), behind = hypot(x, fmax(y - 0.2, 0));
    return fmin(1, fmax(0, fmin(above, behind)) / width);
}

/* Puts a field and velocities: free of divergence, of both signs, |u| of the order of 1. The stream function is the
 * source too, if there is one. */
static int fill(struct lm_bench_background *p, const uint8_t *mask, lm_bench_profile *initial, lm_bench_profile *psi)
{
    const struct lm_grid *g = &p->setup.grid;
    const struct lm_background *field = &p->setup.background[0];
    double *q = calloc(4 * g->size, sizeof *q);
    uint8_t *room = malloc(g->size);
    int status = q && room ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the problem");
    if (status) {
        free(room);
        free(q);
        return status;
    }
    double *vx = q + g->size, *vy = q + 2 * g->size, *s = q + 3 * g->size;
    lm_background_room(g, mask, room);
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            q[k] = room[k] ? initial((i + 0.5) * g->dx, (j + 0.5) * g->dy) : 0;
            s[k] = psi((i + 1.0) * g->dx, (j + 1.0) * g->dy);
            s[k] *= mask ? off_wedge((i + 1.0) / g->nx, (j + 1.0) / g->ny) : 1;
        }
    lm_background_round(g, q, LM_BENCH_QUANTUM);
    status = lm_background_stream(g, field->sides, room, s, vx, vy);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND, q);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND_X, vx);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND_Y, vy);
    if (!status && field->has_source)
        status = p->b->ops->put(p->b, LM_BACKGROUND_SOURCE, s);
    free(room);
    free(q);
    return status;
}

int lm_bench_background_new(const struct lm_bench *b, int nx, int ny, struct lm_background field, int bodies,
                            lm_bench_profile *initial, lm_bench_profile *psi, struct lm_bench_background *p)
{
    *p = (struct lm_bench_background){.setup = setup_of(b, nx, ny, field), .cells = (double)nx * ny};
    const struct lm_grid *g = &p->setup.grid;
    uint8_t *mask = bodies ? calloc(g->cells, 1) : NULL;
    for (size_t k = 0; mask && k < g->cells; k++) {
        mask[k] = (uint8_t)lm_bench_is_solid(bodies, g, (int)(k % (size_t)nx), (int)(k / (size_t)nx));
        p->cells -= mask[k];
    }
    if (bodies && !mask)
        return lm_fail(LM_FAILED, "not enough memory for the problem");
    if (bodies)
        p->setup.bodies = (struct lm_bodies){.count = 1, .mask = mask, .particles = {LM_ABSORBING}};
    int status = lm_backend_create(b->kind, &p->setup, &p->b);
    if (!status)
        status = fill(p, mask, initial, psi);
    free(mask);
    return status;
}
