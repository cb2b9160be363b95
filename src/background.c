#include "larmor/background.h"

#include <math.h>

enum { START_BITS = 47, SMALLEST_QUANTUM = 900 };

int lm_background_quantum(double largest)
{
    int e = 0;
    if (largest > 0.0 && isfinite(largest))
        frexp(largest, &e); /* largest < 2^e */
    const int quantum = START_BITS - e;
    return quantum < SMALLEST_QUANTUM ? quantum : SMALLEST_QUANTUM;
}

/* A sum in quanta of now in units of the ledger. */
static lm_int128 in_ledger(const struct lm_background_ledger *l, struct lm_wide w)
{
    return lm_wide_value(w) * ((lm_int128)1 << (l->exponent - l->quantum));
}

void lm_background_book(struct lm_background_ledger *l, const struct lm_advected *a)
{
    for (int side = 0; side < LM_SIDES; side++) {
        const lm_int128 along = in_ledger(l, a->crossed[side]);
        l->entered[side] += side % 2 ? -along : along;
    }
    l->source += in_ledger(l, a->source);
    l->total = in_ledger(l, a->total);
}

lm_int128 lm_background_residual(const struct lm_background_ledger *l)
{
    lm_int128 sum = l->loaded + l->source + l->rounded;
    for (int side = 0; side < LM_SIDES; side++)
        sum += l->entered[side];
    return sum - l->total;
}

double lm_background_value(const struct lm_background_ledger *l, lm_int128 sum)
{
    return ldexp((double)sum, -l->exponent);
}

lm_int128 lm_background_sum(const struct lm_grid *g, const double *q, int exponent)
{
    lm_int128 sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += (lm_int128)ldexp(q[lm_at(g, i, j)], exponent);
    return sum;
}

void lm_background_round(const struct lm_grid *g, double *q, int quantum)
{
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double *v = &q[lm_at(g, i, j)];
            *v = ldexp(rint(ldexp(*v, quantum)), -quantum) + 0.0; /* no -0 */
        }
}

/* --- room --- */

static int is_fluid(const struct lm_grid *g, const uint8_t *mask, int i, int j)
{
    const int inside_x = i >= 0 && i < g->nx, inside_y = j >= 0 && j < g->ny;
    if ((!inside_x && g->sides.of[LM_X_MIN] != LM_PERIODIC) || (!inside_y && g->sides.of[LM_Y_MIN] != LM_PERIODIC))
        return 0;
    const int x = ((i % g->nx) + g->nx) % g->nx, y = ((j % g->ny) + g->ny) % g->ny;
    return !mask || !mask[(size_t)y * (size_t)g->nx + (size_t)x];
}

static int room_along(const struct lm_grid *g, const uint8_t *mask, int i, int j, int x, int y)
{
    int r = 0;
    while (r < LM_WENO_MOST && is_fluid(g, mask, i + r * x, j + r * y) && is_fluid(g, mask, i - r * x, j - r * y))
        r++;
    return r;
}

void lm_background_room(const struct lm_grid *g, const uint8_t *mask, uint8_t *room)
{
    for (size_t k = 0; k < g->size; k++)
        room[k] = 0;
    for (int j = -1; j <= g->ny; j++)
        for (int i = -1; i <= g->nx; i++)
            room[lm_at(g, i, j)] = (uint8_t)(room_along(g, mask, i, j, 1, 0) | room_along(g, mask, i, j, 0, 1) << 4);
}

double lm_background_rate(const struct lm_grid *g, const struct lm_background *b, double flow_rate)
{
    const double diffusion =
        2 * b->diffusivity * ((g->nx > 1 ? 1 / (g->dx * g->dx) : 0) + (g->ny > 1 ? 1 / (g->dy * g->dy) : 0));
    return (b->limited ? flow_rate / LM_LOBATTO : flow_rate) + diffusion;
}
