#include "larmor/grid.h"

#include <string.h>

const struct lm_cell_offset lm_places_of_b[3] = {{0, 0.5}, {0.5, 0}, {0.5, 0.5}};
const struct lm_cell_offset lm_places_of_e[3] = {{0.5, 0}, {0, 0.5}, {0, 0}};

struct lm_grid lm_grid_make(int nx, int ny, double lx, double ly)
{
    struct lm_grid g = {.nx = nx, .ny = ny, .lx = lx, .ly = ly, .dx = lx / nx, .dy = ly / ny};
    g.stride = nx + 2 * LM_GHOST;
    g.size = (size_t)g.stride * (size_t)(ny + 2 * LM_GHOST);
    g.cells = (size_t)nx * (size_t)ny;
    g.place = lm_whole_domain(nx, ny);
    g.own = (struct lm_cells){0, nx, 0, ny};
    return g;
}

/* The index of the periodic image in 0 .. n - 1. */
static int wrapped(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

void lm_grid_wrap(const struct lm_grid *g, double *a)
{
    int walls_y = g->sides.of[LM_Y_MIN] != LM_PERIODIC, extra = walls_y ? LM_GHOST : 0;
    for (int j = -extra; j < g->ny + extra && g->sides.of[LM_X_MIN] == LM_PERIODIC; j++)
        for (int i = 1; i <= LM_GHOST; i++) {
            a[lm_at(g, -i, j)] = a[lm_at(g, wrapped(-i, g->nx), j)];
            a[lm_at(g, g->nx + i - 1, j)] = a[lm_at(g, wrapped(g->nx + i - 1, g->nx), j)];
        }
    if (walls_y)
        return;
    size_t row = (size_t)g->stride * sizeof *a;
    for (int j = 1; j <= LM_GHOST; j++) {
        int low = wrapped(-j, g->ny), high = wrapped(g->ny + j - 1, g->ny);
        memcpy(a + lm_at(g, -LM_GHOST, -j), a + lm_at(g, -LM_GHOST, low), row);
        memcpy(a + lm_at(g, -LM_GHOST, g->ny + j - 1), a + lm_at(g, -LM_GHOST, high), row);
    }
}

void lm_grid_pack(const struct lm_grid *g, const double *a, double *packed)
{
    for (int j = 0; j < g->ny; j++)
        memcpy(packed + (size_t)j * (size_t)g->nx, a + lm_at(g, 0, j), (size_t)g->nx * sizeof *a);
}

void lm_grid_unpack(const struct lm_grid *g, const double *packed, double *a)
{
    for (int j = 0; j < g->ny; j++)
        memcpy(a + lm_at(g, 0, j), packed + (size_t)j * (size_t)g->nx, (size_t)g->nx * sizeof *a);
    lm_grid_wrap(g, a);
}
