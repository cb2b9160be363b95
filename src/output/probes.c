#include "output/probes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "larmor/physics/numerics/cell_index.h"
#include "larmor/physics/numerics/hash.h"
#include "output/grid_quantities.h"
#include "output/records.h"

enum { PROBE_VERSION = 1, COLUMNS = 11 + LM_MAX_SPECIES + LM_MAX_BACKGROUNDS, CORNERS = 4 };

/* A quantity: its array, and where in a cell it is. */
struct source {
    int array;
    struct lm_cell_offset offset;
    char name[LM_MAX_NAME + 16];
};

/* What the sampling of a probe needs. */
struct probe {
    const struct lm_config *config;
    const struct lm_probe_config *probe;
    int columns;
    struct source source[COLUMNS];
    struct lm_records_column column[COLUMNS];
    struct lm_array_value *value; /* [columns][points][CORNERS] */
    double *weight;               /* the same */
    struct lm_records *records;
};

struct lm_probes {
    struct lm_sim *sim;
    const struct lm_config *config;
    struct probe of[LM_MAX_PROBES];
};

/* ---- the columns ---- */

static void add(struct probe *p, int array, struct lm_cell_offset offset, const char *units, const char *name)
{
    struct source *s = &p->source[p->columns];
    *s = (struct source){.array = array, .offset = offset};
    snprintf(s->name, sizeof s->name, "%s", name);
    p->column[p->columns] = (struct lm_records_column){s->name, units};
    p->columns++;
}

static int wants(const struct probe *p, enum lm_quantity quantity)
{
    return p->probe->wanted >> quantity & 1;
}

static void list_columns(struct probe *p)
{
    static const struct lm_cell_offset centre = {0, 0};
    const struct lm_config *c = p->config;
    char name[LM_MAX_NAME + 16];
    p->columns = 0;
    for (int k = 0; k < LM_GRID_QUANTITIES; k++) {
        const struct lm_grid_quantity *q = &lm_grid_quantities[k];
        for (int d = 0; d < q->components && wants(p, (enum lm_quantity)k); d++)
            add(p, q->array + d, q->place[d], q->unit, q->columns[d]);
    }
    for (int s = 0; s < c->species_count && wants(p, LM_Q_DENSITY); s++) {
        snprintf(name, sizeof name, "n_%s", c->species[s].name);
        add(p, LM_SPECIES_N + s, centre, "n0", name);
    }
    for (int f = 0; f < c->background_count && wants(p, LM_Q_BACKGROUNDS); f++) {
        snprintf(name, sizeof name, "background_%s", c->background[f].name);
        add(p, LM_BACKGROUND + f, centre, "1", name);
    }
}

/* ---- where the values are ---- */

/* The two places along an axis around `at` [cells], and the weight of the upper one. Beyond a wall there is no place:
 * the nearest one has all the weight. */
static void bracket(double at, double offset, int n, int is_periodic, int place[2], double *weight)
{
    const double g = at - 0.5 - offset, low = floor(g);
    for (int k = 0; k < 2; k++) {
        const int i = (int)low + k;
        place[k] = is_periodic ? lm_wrap(i, n) : lm_nearest_cell(i, n);
    }
    *weight = g - low;
}

static void find_places(struct probe *p)
{
    const struct lm_grid g = lm_config_grid(p->config);
    const int periodic[2] = {g.sides.of[LM_X_MIN] == LM_PERIODIC, g.sides.of[LM_Y_MIN] == LM_PERIODIC};
    size_t at = 0;
    for (int c = 0; c < p->columns; c++)
        for (int n = 0; n < p->probe->points; n++) {
            const struct source *s = &p->source[c];
            int i[2], j[2];
            double x, y;
            bracket(p->probe->place[0][n] / g.dx, s->offset.x, g.nx, periodic[0], i, &x);
            bracket(p->probe->place[1][n] / g.dy, s->offset.y, g.ny, periodic[1], j, &y);
            for (int k = 0; k < CORNERS; k++, at++) {
                p->value[at] = (struct lm_array_value){.array = s->array, .i = i[k % 2], .j = j[k / 2]};
                p->weight[at] = (k % 2 ? x : 1 - x) * (k / 2 ? y : 1 - y);
            }
        }
}

/* ---- files ---- */

static void put_places(struct lm_h5 *h, const char *name, const struct lm_probe_config *p, const double *values)
{
    const hsize_t points = (hsize_t)p->points;
    hid_t data = lm_h5_make_dataset(h, h->file, name, H5T_NATIVE_DOUBLE, 1, &points, 0);
    lm_h5_write_rows(h, data, H5T_NATIVE_DOUBLE, 0, points, values);
    lm_h5_end(data);
}

static void describe(struct lm_h5 *h, const void *context)
{
    const struct probe *p = context;
    lm_h5_put_text(h, h->file, "format", "larmor-probe");
    lm_h5_put_whole(h, h->file, "format_version", PROBE_VERSION);
    lm_h5_put_text(h, h->file, "description",
                   "Values at the points x_points, y_points [d_i], at time = step dt; the current of the ions is that "
                   "half a step back.");
    put_places(h, "x_points", p->probe, p->probe->place[0]);
    put_places(h, "y_points", p->probe, p->probe->place[1]);
}

/* A hash of the points. */
static uint64_t identity_of(const struct lm_probe_config *p)
{
    uint64_t sum = lm_mix((uint64_t)p->points);
    for (int n = 0; n < p->points; n++)
        sum = lm_mix(sum ^ lm_mix(lm_bits(p->place[0][n])) ^ lm_bits(p->place[1][n]));
    return sum;
}

static int make(struct probe *p)
{
    list_columns(p);
    const struct lm_records_kind kind = {.folder = "probes",
                                         .name = p->probe->name,
                                         .columns = p->columns,
                                         .column = p->column,
                                         .width = (size_t)p->probe->points,
                                         .identity = identity_of(p->probe),
                                         .describe = describe,
                                         .context = p};
    const size_t count = CORNERS * (size_t)p->columns * (size_t)p->probe->points;
    p->value = malloc((count + 1) * sizeof *p->value);
    p->weight = malloc((count + 1) * sizeof *p->weight);
    if (!p->value || !p->weight)
        return lm_fail(LM_FAILED, "not enough memory for the probe %s", p->probe->name);
    find_places(p);
    return lm_records_new(p->config, &kind, &p->records);
}

int lm_probes_new(struct lm_sim *sim, const struct lm_config *config, struct lm_probes **out)
{
    struct lm_probes *p = *out = calloc(1, sizeof *p);
    if (!p)
        return lm_fail(LM_FAILED, "not enough memory for probes");
    p->sim = sim;
    p->config = config;
    int status = LM_OK;
    for (int k = 0; k < config->probe_count && !status; k++) {
        p->of[k].config = config;
        p->of[k].probe = &config->probe[k];
        status = make(&p->of[k]);
    }
    return status;
}

void lm_probes_free(struct lm_probes **p)
{
    for (int k = 0; *p && k < LM_MAX_PROBES; k++) {
        lm_records_free(&(*p)->of[k].records);
        free((*p)->of[k].value);
        free((*p)->of[k].weight);
    }
    free(*p);
    *p = NULL;
}

/* ---- samples ---- */

static int sample(struct lm_sim *sim, struct probe *p)
{
    const size_t columns = (size_t)p->columns, points = (size_t)p->probe->points;
    double *row;
    int status = lm_sim_get_values(sim, CORNERS * columns * points, p->value);
    if (!status)
        status = lm_records_add(p->records, lm_sim_step_number(sim), &row);
    for (size_t n = 0; n < columns * points && !status; n++) {
        const struct lm_array_value *v = &p->value[CORNERS * n];
        const double *w = &p->weight[CORNERS * n];
        row[n] = w[0] * v[0].value + w[1] * v[1].value + w[2] * v[2].value + w[3] * v[3].value;
    }
    return status;
}

int lm_probes_sample(struct lm_probes *p)
{
    const int64_t step = lm_sim_step_number(p->sim);
    int status = LM_OK;
    for (int k = 0; k < p->config->probe_count && !status; k++)
        if (step % p->config->probe[k].every == 0)
            status = sample(p->sim, &p->of[k]);
    return status;
}

int lm_probes_flush(struct lm_probes *p)
{
    int status = LM_OK;
    for (int k = 0; k < p->config->probe_count && !status; k++)
        status = lm_records_flush(p->of[k].records);
    return status;
}

int lm_probes_check(struct lm_probes *p)
{
    int status = LM_OK;
    for (int k = 0; k < p->config->probe_count && !status; k++)
        status = lm_records_check(p->of[k].records, lm_sim_step_number(p->sim));
    return status;
}

int lm_probes_go_on(struct lm_probes *p)
{
    int status = LM_OK;
    for (int k = 0; k < p->config->probe_count && !status; k++)
        status = lm_records_go_on(p->of[k].records, lm_sim_step_number(p->sim));
    return status;
}

/* ---- estimates ---- */

static int columns_of(const struct lm_config *config, int k)
{
    struct probe p = {.config = config, .probe = &config->probe[k]};
    list_columns(&p);
    return p.columns;
}

double lm_probes_memory(const struct lm_config *config, int k)
{
    const int columns = columns_of(config, k);
    const double corners = CORNERS * (double)columns * config->probe[k].points;
    return lm_records_memory(columns, (size_t)config->probe[k].points) +
           corners * (sizeof(struct lm_array_value) + sizeof(double));
}

double lm_probes_sample_bytes(const struct lm_config *config, int k)
{
    return 8.0 * (1 + columns_of(config, k) * (double)config->probe[k].points);
}
