/* What a step is expected to cost in each tile, by which the domain is divided among ranks. */
#include <math.h>
#include <stdlib.h>

#include "base/expr.h"
#include "sim/setup.h"

enum { POINTS = 4 }; /* of a tile, along each axis two */

/* The cells of a tile, and the centres of the cells near a quarter and three quarters of each of its edges. A density
 * need not be finite anywhere but at the centres of cells. */
static double place_points(const struct lm_setup *s, size_t tile, double x[POINTS], double y[POINTS])
{
    const struct lm_grid *g = &s->grid;
    const int size = s->tile, columns = (g->nx + size - 1) / size;
    const int left = (int)(tile % (size_t)columns) * size, low = (int)(tile / (size_t)columns) * size;
    const int width = left + size <= g->nx ? size : g->nx - left, height = low + size <= g->ny ? size : g->ny - low;
    for (int k = 0; k < POINTS; k++) {
        x[k] = (left + (1 + 2 * (k % 2)) * width / 4 + 0.5) * g->dx;
        y[k] = (low + (1 + 2 * (k / 2)) * height / 4 + 0.5) * g->dy;
    }
    return (double)width * height;
}

int lm_setup_cost(const struct lm_config *c, const struct lm_setup *s, double *cost)
{
    const size_t tiles = lm_setup_tiles(s), count = tiles * POINTS;
    double *x = malloc(4 * count * sizeof *x), *y = x + count, *density = y + count, *cells = density + count;
    int status = x ? LM_OK : lm_fail(LM_FAILED, "not enough memory for the division of the domain");
    for (size_t k = 0; k < tiles && !status; k++) {
        cells[k] = place_points(s, k, x + k * POINTS, y + k * POINTS);
        cost[k] = LM_CELL_COST * cells[k];
    }
    for (int n = 0; n < c->species_count && !status; n++) {
        status = lm_expr_at(c->names, c->species[n].density, count, x, y, 0, density);
        for (size_t k = 0; k < count && !status; k++)
            cost[k / POINTS] += fmax(density[k], 0) * c->species[n].particles_per_cell * cells[k / POINTS] / POINTS;
    }
    free(x);
    return status;
}
