/* A flow in free fluid, past a wedge or among posts; one background field in it, on a backend of its own. */
#include <math.h>
#include <stdlib.h>

#include "bench/cases.h"
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

void lm_bench_fluid_free(struct lm_bench_fluid *f)
{
    free(f->mask);
    free(f->q);
}

static int fill(struct lm_bench_fluid *f, const uint8_t *room, lm_bench_profile *initial, lm_bench_profile *psi)
{
    const struct lm_grid *g = &f->g;
    const int periodic[LM_SIDES] = {LM_BACKGROUND_PERIODIC};
    for (int j = -1; j < g->ny; j++)
        for (int i = -1; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            f->q[k] = room[k] ? initial((i + 0.5) * g->dx, (j + 0.5) * g->dy) : 0;
            f->source[k] = psi((i + 1.0) * g->dx, (j + 1.0) * g->dy);
            f->source[k] *= f->mask ? off_wedge((i + 1.0) / g->nx, (j + 1.0) / g->ny) : 1;
        }
    lm_background_round(g, NULL, f->q, LM_BENCH_QUANTUM);
    return lm_background_stream(g, periodic, room, NULL, f->source, f->vx, f->vy);
}

int lm_bench_fluid_new(int nx, int ny, int bodies, lm_bench_profile *initial, lm_bench_profile *psi,
                       struct lm_bench_fluid *f)
{
    *f = (struct lm_bench_fluid){
        .g = lm_grid_make(nx, ny, 1.0, (double)ny / nx), .bodies = bodies, .cells = (double)nx * ny};
    const struct lm_grid *g = &f->g;
    uint8_t *room = malloc(g->size);
    f->mask = bodies ? malloc(g->cells) : NULL;
    f->q = calloc(4 * g->size, sizeof *f->q);
    int status = room && f->q && (f->mask || !bodies) ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the problem");
    for (size_t k = 0; k < g->cells && bodies && !status; k++) {
        f->mask[k] = (uint8_t)lm_bench_is_solid(bodies, g, (int)(k % (size_t)nx), (int)(k / (size_t)nx));
        f->cells -= f->mask[k];
    }
    if (!status)
        status = lm_stencil_clearance(g, f->mask, room);
    if (!status) {
        f->vx = f->q + g->size;
        f->vy = f->vx + g->size;
        f->source = f->vy + g->size;
        status = fill(f, room, initial, psi);
    }
    free(room);
    return status;
}

int lm_bench_background_new(const struct lm_bench *b, struct lm_background field, const struct lm_bench_fluid *f,
                            struct lm_bench_background *p)
{
    *p = (struct lm_bench_background){
        .setup = {.grid = f->g,
                  .ohm = {.inv_dx = 1 / f->g.dx, .inv_dy = 1 / f->g.dy, .floor = 0.1, .gamma = 1},
                  .shape = LM_LINEAR,
                  .precision = LM_DOUBLE,
                  .tile = 8,
                  .threads = b->threads,
                  .species_count = 1,
                  .background_count = 1,
                  .background = {field}}};
    p->setup.species[0] = (struct lm_backend_species){.charge = 1, .mass = 1, .weight = 1};
    if (f->mask)
        p->setup.bodies = (struct lm_bodies){.count = 1, .mask = f->mask, .particles = {LM_ABSORBING}};
    int status = lm_backend_create(b->kind, &p->setup, &p->b);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND, f->q);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND_X, f->vx);
    status = status ? status : p->b->ops->put(p->b, LM_BACKGROUND_Y, f->vy);
    if (!status && field.has_source)
        status = p->b->ops->put(p->b, LM_BACKGROUND_SOURCE, f->source);
    return status;
}
