/* Background fields on the host: quanta, ledgers, and the clearance of the WENO stencils. */
#include "larmor/background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"
#include "larmor/physics/fields/wall.h"
#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/fluid/opening.h"

const char *const lm_background_kinds[] = {"tracer", "neutral_gas", "entropy"};

enum { START_BITS = 47, SMALLEST_QUANTUM = START_BITS + 400 };

int lm_background_quantum(double largest)
{
    int e = 0;
    if (largest > 0.0 && isfinite(largest))
        frexp(largest, &e); /* largest < 2^e */
    const int quantum = START_BITS - e;
    return quantum < SMALLEST_QUANTUM ? quantum : SMALLEST_QUANTUM;
}

/* A sum of quanta as they stand, in units of the ledger. */
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

/* v / 2^bits towards zero. */
static lm_int128 in_units_of(lm_int128 v, int bits)
{
    return bits > 126 ? 0 : v / ((lm_int128)1 << bits);
}

void lm_background_coarsen(struct lm_background_ledger *l, int exponent)
{
    const int bits = l->exponent - exponent;
    lm_int128 *const sums[] = {&l->loaded,     &l->source,     &l->rounded,    &l->total,
                               &l->entered[0], &l->entered[1], &l->entered[2], &l->entered[3]};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        *sums[k] = in_units_of(*sums[k], bits);
    l->exponent = exponent;
    l->rounded -= lm_background_residual(l);
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

/* The content of the cell at k of an array. */
static double content_at(const struct lm_opening *open, const double *q, size_t k, int quantum)
{
    const double volume = lm_volume_at(open, (long)k);
    return volume == 1 ? q[k] : lm_content(q[k], volume, lm_exp2i(-quantum));
}

lm_int128 lm_background_sum(const struct lm_grid *g, const struct lm_opening *open, const double *q, int quantum,
                            int exponent)
{
    lm_int128 sum = 0;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++)
            sum += (lm_int128)ldexp(content_at(open, q, lm_at(g, i, j), quantum), exponent);
    return sum;
}

int lm_background_is_whole(const struct lm_grid *g, const struct lm_opening *open, const double *q, int quantum)
{
    const double limit = 0x1p53;
    int whole = 1;
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const double content = content_at(open, q, k, quantum), quanta = ldexp(content, quantum);
            whole &= fabs(quanta) < limit && quanta == rint(quanta) && q[k] == content / lm_volume_at(open, (long)k);
        }
    return whole;
}

/* With its content rounded towards zero, no cell is beyond a bound that its value has not been beyond. */
static double round_cut(double q, double volume, int quantum)
{
    return ldexp(lm_quanta_within(q, volume, lm_exp2i(quantum)), -quantum) / volume;
}

void lm_background_round(const struct lm_grid *g, const struct lm_opening *open, double *q, int quantum)
{
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            double *v = &q[lm_at(g, i, j)];
            const double volume = lm_volume_at(open, (long)lm_at(g, i, j));
            if (volume != 1)
                *v = round_cut(*v, volume, quantum) + 0.0;
            else
                *v = ldexp(rint(ldexp(*v, quantum)), -quantum) + 0.0; /* no -0 */
        }
}

/* --- clearance --- */

/* A row or column of n cells. The mask of the first one (NULL: all are free), and the distance from one to the next. */
struct line {
    const uint8_t *first;
    size_t step;
    int n, periodic;
};

static int is_free(const struct line *l, int k)
{
    if (k < 0 || k >= l->n) {
        if (!l->periodic)
            return 0;
        k = ((k % l->n) + l->n) % l->n;
    }
    return !l->first || !l->first[(size_t)k * l->step];
}

/* The number of free cells in a row that end with each of the cells -1 .. n, counted from below and from above, at most
 * LM_WENO_MOST. The clearance is the smaller one. */
static void find_clearance(const struct line *l, uint8_t *clearance)
{
    uint8_t run = 0;
    for (int k = -LM_WENO_MOST; k <= l->n; k++) {
        run = (uint8_t)(is_free(l, k) ? run + (run < LM_WENO_MOST) : 0);
        if (k >= -1)
            clearance[k + 1] = run;
    }
    run = 0;
    for (int k = l->n + LM_WENO_MOST - 1; k >= -1; k--) {
        run = (uint8_t)(is_free(l, k) ? run + (run < LM_WENO_MOST) : 0);
        if (k <= l->n && run < clearance[k + 1])
            clearance[k + 1] = run;
    }
}

int lm_stencil_clearance(const struct lm_grid *g, const uint8_t *mask, uint8_t *clearance)
{
    const int periodic_x = g->sides.of[LM_X_MIN] == LM_PERIODIC, periodic_y = g->sides.of[LM_Y_MIN] == LM_PERIODIC;
    uint8_t *of_line = malloc((size_t)(g->nx > g->ny ? g->nx : g->ny) + 2);
    if (!of_line)
        return lm_fail(LM_FAILED, "not enough memory for the clearance of the cells");
    memset(clearance, 0, g->size);
    for (int j = -1; j <= g->ny; j++) {
        const int y = periodic_y ? (j + g->ny) % g->ny : j;
        if (y < 0 || y >= g->ny)
            continue;
        find_clearance(&(struct line){mask ? mask + (size_t)y * (size_t)g->nx : NULL, 1, g->nx, periodic_x}, of_line);
        memcpy(clearance + lm_at(g, -1, j), of_line, (size_t)g->nx + 2);
    }
    for (int i = -1; i <= g->nx; i++) {
        const int x = periodic_x ? (i + g->nx) % g->nx : i;
        if (x < 0 || x >= g->nx)
            continue;
        find_clearance(&(struct line){mask ? mask + x : NULL, (size_t)g->nx, g->ny, periodic_y}, of_line);
        for (int j = -1; j <= g->ny; j++)
            clearance[lm_at(g, i, j)] |= (uint8_t)(of_line[j + 1] << 4);
    }
    free(of_line);
    return LM_OK;
}

double lm_background_rate(const struct lm_grid *g, const struct lm_background *b, double flow_rate, double crowding)
{
    const double diffusion =
        2 * b->diffusivity * crowding *
        ((lm_varies_along(g, 0) ? 1 / (g->dx * g->dx) : 0) + (lm_varies_along(g, 1) ? 1 / (g->dy * g->dy) : 0));
    return (b->limited ? flow_rate / LM_LOBATTO : flow_rate) + diffusion;
}
