/* Outputs and distributions of a configuration: their lists of words and numbers, and the cells of their regions. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/text.h"
#include "config/reader.h"

const char *const lm_quantity_names[LM_QUANTITIES] = {
    [LM_Q_B] = "B",
    [LM_Q_E] = "E",
    [LM_Q_E_TERMS] = "E_terms",
    [LM_Q_CURRENT] = "J",
    [LM_Q_ION_CURRENT] = "J_i",
    [LM_Q_CHARGE_DENSITY] = "rho",
    [LM_Q_ELECTRON_PRESSURE] = "p_e",
    [LM_Q_ELECTRON_TEMPERATURE] = "T_e",
    [LM_Q_HEATING] = "heating",
    [LM_Q_BACKGROUNDS] = "backgrounds",
    [LM_Q_DENSITY] = "density",
    [LM_Q_VELOCITY] = "velocity",
    [LM_Q_PRESSURE] = "pressure",
    [LM_Q_TEMPERATURE] = "temperature",
    [LM_Q_ENERGY_FLUX] = "energy_flux",
};

const char *const lm_axis_names[LM_AXES] = {
    [LM_AXIS_X] = "x",         [LM_AXIS_Y] = "y",
    [LM_AXIS_VX] = "vx",       [LM_AXIS_VY] = "vy",
    [LM_AXIS_VZ] = "vz",       [LM_AXIS_PAR] = "v_par",
    [LM_AXIS_PERP] = "v_perp", [LM_AXIS_ENERGY] = "energy",
    [LM_AXIS_PITCH] = "pitch", [LM_AXIS_GYROPHASE] = "gyrophase",
};

/* A section of one of the two kinds, and its key that is read. */
struct list {
    struct lm_config_reader *r;
    const struct lm_scope *scope;
    const char *key;
};

static void report(const struct list *l, const char *wrong)
{
    const int k = lm_keys_find(l->scope->kind->section, l->key);
    lm_problems_add(&l->r->problems, l->scope->lines[k] ? l->scope->lines[k] : l->scope->line, "%s.%s: %s",
                    l->scope->section, l->key, wrong);
}

/* Copies the next word of a list to out[LM_MAX_LIST]; returns what follows it, or NULL at the end. Words stand between
 * commas, or between blanks where `blanks`. */
static const char *next_word(const char *at, int blanks, char *out)
{
    at += strspn(at, " \t,");
    if (!*at)
        return NULL;
    size_t n = blanks ? strcspn(at, " \t,") : lm_text_item(at);
    memcpy(out, at, n);
    at += n;
    while (n > 0 && strchr(" \t", out[n - 1]))
        n--;
    out[n] = 0;
    return at;
}

/* The number of `word` among names, of which some may be NULL; -1: it is none of them, and that is reported. */
static int find_word(const struct list *l, const char *word, int count, const char *const *names)
{
    const char *best = NULL;
    int distance = lm_text_tolerance(word) + 1;
    char wrong[LM_MAX_LIST + 128];
    for (int k = 0; k < count; k++) {
        if (!names[k])
            continue;
        if (!strcmp(word, names[k]))
            return k;
        lm_text_nearer(word, names[k], &best, &distance);
    }
    int n = snprintf(wrong, sizeof wrong, "\"%.80s\" is not one of ", word);
    for (int k = 0, any = 0; k < count && n < (int)sizeof wrong - 40; k++)
        if (names[k])
            n += snprintf(wrong + n, sizeof wrong - (size_t)n, "%s%s", any++ > 0 ? ", " : "", names[k]);
    if (best)
        snprintf(wrong + n, sizeof wrong - (size_t)n, "; did you mean %s?", best);
    report(l, wrong);
    return -1;
}

/* The bits of the words of a list. */
static unsigned read_words(const struct list *l, const char *text, int count, const char *const *names)
{
    char word[LM_MAX_LIST];
    unsigned bits = 0;
    int words = 0;
    for (; (text = next_word(text, 1, word)); words++) {
        const int k = find_word(l, word, count, names);
        bits |= k >= 0 ? 1u << k : 0;
    }
    if (words == 0)
        report(l, "has no word");
    return bits;
}

static unsigned read_species(const struct list *l, const char *text)
{
    const char *names[LM_MAX_SPECIES];
    const struct lm_config *c = l->r->config;
    for (int s = 0; s < c->species_count; s++)
        names[s] = c->species[s].name;
    return *text ? read_words(l, text, c->species_count, names) : (1u << c->species_count) - 1;
}

/* The first cell whose centre lies at or above x; INFINITY stands for `otherwise`. */
static int cell_at(double x, double d, int n, int otherwise)
{
    const double k = ceil(x / d - 0.5);
    return isinf(x) ? otherwise : k < 0 ? 0 : k > n ? n : (int)k;
}

/* Returns 1 when the region has cells. */
static int find_cells(const struct list *l, struct lm_region *region)
{
    const struct lm_config *c = l->r->config;
    if (l->r->unusable_values)
        return 0;
    const struct lm_grid g = lm_config_grid(c);
    struct lm_cells *cells = &region->cells;
    cells->from_x = cell_at(region->from_x, g.dx, g.nx, 0);
    cells->to_x = cell_at(region->to_x, g.dx, g.nx, g.nx);
    cells->from_y = cell_at(region->from_y, g.dy, g.ny, 0);
    cells->to_y = cell_at(region->to_y, g.dy, g.ny, g.ny);
    const int has_cells = cells->from_x < cells->to_x && cells->from_y < cells->to_y;
    if (!has_cells)
        report(l, "the region from_x <= x < to_x, from_y <= y < to_y holds no centre of a cell");
    return has_cells;
}

static void check_coarsening(const struct list *l, const struct lm_output_config *o)
{
    const struct lm_cells *c = &o->region.cells;
    const int width = c->to_x - c->from_x, height = c->to_y - c->from_y;
    char wrong[128];
    if (width % o->coarsen == 0 && height % o->coarsen == 0)
        return;
    snprintf(wrong, sizeof wrong, "the output has %d x %d cells, and %d divides not both numbers", width, height,
             o->coarsen);
    report(l, wrong);
}

static void check_average(struct list *l, const struct lm_output_config *o)
{
    char wrong[160];
    l->key = "average";
    if (o->every > 0 && o->average > o->every) {
        snprintf(wrong, sizeof wrong,
                 "a mean over %lld steps is longer than the %lld steps between two outputs; set average <= every",
                 (long long)o->average, (long long)o->every);
        report(l, wrong);
    }
    l->key = "average_every";
    if (o->average == 0 && o->average_every > 1)
        report(l, "has no effect without a mean over time: set average too");
    else if (o->average_every > 0 && o->average % o->average_every != 0) {
        snprintf(wrong, sizeof wrong, "%lld does not divide the %lld steps of average", (long long)o->average_every,
                 (long long)o->average);
        report(l, wrong);
    }
}

static void check_output(struct lm_config_reader *r, const struct lm_scope *scope)
{
    struct lm_output_config *o = scope->base;
    struct list l = {r, scope, "quantities"};
    if (o->quantities[0]) /* else reported as missing */
        o->wanted = read_words(&l, o->quantities, LM_QUANTITIES, lm_quantity_names);
    if (r->config->fields.solver != LM_SOLVER_HYBRID && o->wanted & (1u << LM_Q_E_TERMS | 1u << LM_Q_HEATING))
        report(&l, "E_terms and heating need Ohm's law: fields.solver = hybrid");
    l.key = "species";
    o->of = read_species(&l, o->species);
    l.key = "from_x";
    const int has_cells = find_cells(&l, &o->region);
    l.key = "coarsen";
    if (has_cells && o->coarsen > 0)
        check_coarsening(&l, o);
    if (!r->unusable_values)
        check_average(&l, o);
}

static const char commas[] = "commas separate the numbers of a list";

/* 1 when two numbers or names stand side by side, with blanks between them only. */
static int is_pair(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, " \t"));) {
        const char before = at > text ? at[-1] : ' ';
        at += strspn(at, " \t");
        if ((isalnum((unsigned char)before) || strchr("._)", before)) && (isalnum((unsigned char)*at) || *at == '.'))
            return 1;
    }
    return 0;
}

/* Numbers between commas, each an expression of constants; `out` gets the first `most` of them. Returns how many there
 * are; -1: one is wrong, and that is reported, or the names are not known. */
static int read_any_numbers(const struct list *l, const char *text, double low, double high, int most, double *out)
{
    char word[LM_MAX_LIST], wrong[LM_MAX_LIST + 64];
    int n = 0;
    if (l->r->unusable_values)
        return -1;
    for (; (text = next_word(text, 0, word)); n++) {
        double value = low;
        if (is_pair(word)) {
            snprintf(wrong, sizeof wrong, "\"%s\": %s", word, commas);
            report(l, wrong);
            return -1;
        }
        const int status = lm_expr_value(l->r->config->names, word, &value);
        if (!status && value >= low && value <= high) {
            out[n < most ? n : most - 1] = value;
            continue;
        }
        snprintf(wrong, sizeof wrong, "%s is out of range (%g to %g)", word, low, high);
        report(l, status ? lm_error() : wrong);
        return -1;
    }
    return n;
}

/* One number for each axis. Returns 1 when all of them are good. */
static int read_numbers(const struct list *l, const char *text, int count, double low, double high, double *out)
{
    char wrong[128];
    const int n = *text ? read_any_numbers(l, text, low, high, LM_MAX_DIMENSIONS, out) : -1; /* reported as missing */
    if (n < 0 || n == count)
        return n == count;
    snprintf(wrong, sizeof wrong, "has %d number%s, and there %s; %s", n, n == 1 ? "" : "s",
             count == 1   ? "is 1 axis"
             : count == 2 ? "are 2 axes"
                          : "are 3 axes",
             commas);
    report(l, wrong);
    return 0;
}

static void read_axes(const struct list *l, struct lm_distribution_config *d)
{
    char word[LM_MAX_LIST];
    for (const char *text = d->axes; (text = next_word(text, 1, word));) {
        const int k = find_word(l, word, LM_AXES, lm_axis_names);
        if (d->into.dimensions == LM_MAX_DIMENSIONS) {
            report(l, "more than three axes");
            return;
        }
        d->into.axis[d->into.dimensions++] = k < 0 ? LM_AXIS_X : k;
    }
    if (d->into.dimensions == 0)
        report(l, "has no word");
}

static void check_bins(const struct list *l, struct lm_distribution_config *d)
{
    static const double MOST = 1 << 26;
    double count[LM_MAX_DIMENSIONS] = {1, 1, 1}, all = 1;
    if (!read_numbers(l, d->bins, d->into.dimensions, 1, 1 << 20, count))
        return;
    for (int k = 0; k < d->into.dimensions; k++) {
        d->into.count[k] = (int)count[k];
        all *= count[k];
        if (count[k] != d->into.count[k])
            report(l, "a number of bins is not an integer");
    }
    if (all > MOST)
        report(l, "more than 2^26 bins in all");
}

/* An infinite end of a region is a side of the domain, and no particle lies beyond it. */
static void set_region(const struct lm_region *region, struct lm_bins *into)
{
    into->from_x = isinf(region->from_x) ? -INFINITY : region->from_x;
    into->from_y = isinf(region->from_y) ? -INFINITY : region->from_y;
    into->to_x = isinf(region->to_x) ? INFINITY : region->to_x;
    into->to_y = isinf(region->to_y) ? INFINITY : region->to_y;
}

static void check_distribution(struct lm_config_reader *r, const struct lm_scope *scope)
{
    struct lm_distribution_config *d = scope->base;
    struct lm_bins *into = &d->into;
    struct list l = {r, scope, "axes"};
    if (d->axes[0]) /* else reported as missing */
        read_axes(&l, d);
    if (into->dimensions == 0)
        return;
    l.key = "bins";
    check_bins(&l, d);
    l.key = "from";
    int is_good = read_numbers(&l, d->from, into->dimensions, -DBL_MAX, DBL_MAX, into->low);
    l.key = "to";
    is_good &= read_numbers(&l, d->to, into->dimensions, -DBL_MAX, DBL_MAX, into->high);
    for (int k = 0; k < into->dimensions && is_good; k++)
        if (!(into->low[k] < into->high[k]))
            report(&l, "an upper end is not above its lower end");
        else if (isinf(into->high[k] - into->low[k]))
            report(&l, "the ends of an axis are more than 1.8e308 apart");
    l.key = "species";
    d->of = read_species(&l, d->species);
    l.key = "from_x";
    find_cells(&l, &d->region);
    set_region(&d->region, into);
}

/* ---- probes ---- */

enum { MOST_CORNERS = 64 };

/* The points of a line of `count` points at even distances through the corners. */
static void divide_line(int corners, double corner[2][MOST_CORNERS], int count, double *const place[2])
{
    double length[MOST_CORNERS] = {0}; /* from the first corner to each */
    for (int k = 1; k < corners; k++)
        length[k] = length[k - 1] + hypot(corner[0][k] - corner[0][k - 1], corner[1][k] - corner[1][k - 1]);
    for (int n = 0, k = 1; n < count; n++) {
        const double at = count > 1 ? length[corners - 1] * n / (count - 1) : 0;
        while (k < corners - 1 && length[k] < at)
            k++;
        const double way = length[k] - length[k - 1], part = way > 0 ? fmin(1, (at - length[k - 1]) / way) : 0;
        for (int d = 0; d < 2; d++)
            place[d][n] = (1 - part) * corner[d][k - 1] + part * corner[d][k];
    }
}

static void place_points(const struct list *l, struct lm_probe_config *p, int corners, double corner[2][MOST_CORNERS])
{
    const int count = p->line > 0 ? p->line : corners;
    p->place[0] = malloc(2 * (size_t)count * sizeof *p->place[0]);
    if (!p->place[0]) {
        report(l, "not enough memory for the points");
        return;
    }
    p->place[1] = p->place[0] + count;
    p->points = count;
    if (p->line > 0 && corners > 1)
        divide_line(corners, corner, count, p->place);
    for (int n = 0; n < count && p->line == 0; n++)
        for (int d = 0; d < 2; d++)
            p->place[d][n] = corner[d][n];
}

static void report_numbers(const struct list *l, int in_x, int in_y)
{
    char wrong[128];
    snprintf(wrong, sizeof wrong, "x has %d number%s and y has %d; %s", in_x, in_x == 1 ? "" : "s", in_y, commas);
    report(l, wrong);
}

/* The quantities that can be sampled at points. */
static const char *const sampled[LM_QUANTITIES] = {
    [LM_Q_B] = "B",
    [LM_Q_E] = "E",
    [LM_Q_ION_CURRENT] = "J_i",
    [LM_Q_CHARGE_DENSITY] = "rho",
    [LM_Q_ELECTRON_PRESSURE] = "p_e",
    [LM_Q_BACKGROUNDS] = "backgrounds",
    [LM_Q_DENSITY] = "density",
};

static void check_probe(struct lm_config_reader *r, const struct lm_scope *scope)
{
    struct lm_probe_config *p = scope->base;
    struct list l = {r, scope, "quantities"};
    double corner[2][MOST_CORNERS];
    if (p->quantities[0]) /* else reported as missing */
        p->wanted = read_words(&l, p->quantities, LM_QUANTITIES, sampled);
    if (!p->x[0] || !p->y[0])
        return;
    l.key = "x";
    const int n = read_any_numbers(&l, p->x, 0, r->config->grid.lx, MOST_CORNERS, corner[0]);
    l.key = "y";
    const int ny = read_any_numbers(&l, p->y, 0, r->config->grid.ly, MOST_CORNERS, corner[1]);
    if (n < 0 || ny < 0)
        return;
    if (n != ny)
        report_numbers(&l, n, ny);
    else if (n == 0)
        report(&l, "has no number");
    else if (n > MOST_CORNERS)
        report(&l, "more than 64 points");
    else if (p->line > 0 && n < 2)
        report(&l, "a line needs two points or more");
    else
        place_points(&l, p, n, corner);
}

void lm_config_free_probes(struct lm_config *c)
{
    for (int k = 0; k < LM_MAX_PROBES; k++) {
        free(c->probe[k].place[0]);
        c->probe[k].place[0] = c->probe[k].place[1] = NULL;
    }
}

/* ---- tracks ---- */

/* Expressions are parsed once their names are known. */
static void check_track(struct lm_config_reader *r, const struct lm_scope *scope)
{
    struct lm_track_config *t = scope->base;
    struct list l = {r, scope, "species"};
    const char *names[LM_MAX_SPECIES];
    for (int s = 0; s < r->config->species_count; s++)
        names[s] = r->config->species[s].name;
    if (!t->species[0])
        return; /* reported as missing */
    t->of = find_word(&l, t->species, r->config->species_count, names);
    if (t->of >= 0 && r->config->species[t->of].electron_heat_exchange_rate > 0)
        report(&l, "ions that exchange heat with electrons (electron_heat_exchange_rate) cannot be followed");
    t->of = t->of < 0 ? 0 : t->of;
    l.key = "where";
    if (!r->unusable_values && lm_expr_select(r->config->names, t->where, 0, NULL, NULL))
        report(&l, lm_error());
}

void lm_config_check_outputs(struct lm_config_reader *r)
{
    struct lm_scope scope;
    for (int k = 0; lm_config_scope(r, k, &scope); k++)
        if (scope.kind == &lm_named[LM_OUTPUTS])
            check_output(r, &scope);
        else if (scope.kind == &lm_named[LM_DISTRIBUTIONS])
            check_distribution(r, &scope);
        else if (scope.kind == &lm_named[LM_PROBES])
            check_probe(r, &scope);
        else if (scope.kind == &lm_named[LM_TRACKS])
            check_track(r, &scope);
}
