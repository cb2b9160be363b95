/* Checks what the sides of the domain do to particles and to fields, and the plasma beyond inflow sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/reader.h"
#include "base/expr_scan.h"
#include "config/side_points.h"

/* Absorbing sides are radiating by default where plasma leaves at least at this speed: in thermal speeds, and in v_A.
 */
#define LEAST_OUTFLOW 1.0
#define LEAST_FLOW 0.01

/* Of ions across B, for the speed of fast waves. */
#define GAMMA_IONS 2.0

/* Smaller differences, as shares of what is summed, can come from rounding. */
#define ROUNDING 1e-9

static int key_of(const char *prefix, int side)
{
    char name[LM_INI_NAME];
    snprintf(name, sizeof name, "%s%s", prefix, lm_side_names[side]);
    return lm_keys_find("boundary", name);
}

static void report(struct lm_config_reader *r, int key, const char *wrong)
{
    lm_problems_add(&r->problems, r->key_line[key], "boundary.%s: %s", lm_keys[key].name, wrong);
}

static void check_opposites(struct lm_config_reader *r)
{
    const int *boundary = r->config->boundary;
    for (int side = 0; side < LM_SIDES; side++) {
        if (boundary[side] <= LM_PERIODIC || boundary[side ^ 1] != LM_PERIODIC)
            continue;
        char wrong[96];
        snprintf(wrong, sizeof wrong, "the side opposite is periodic: set boundary.%s as well",
                 lm_side_names[side ^ 1]);
        report(r, key_of("", side), wrong);
        return;
    }
}

/* The boundary condition of the fields where the file does not set one. lm_config_choose_fields has the last word for
 * absorbing sides and for inflow sides. */
static int default_fields(int boundary)
{
    static const int fields[] = {[LM_PERIODIC] = LM_FIELDS_PERIODIC,
                                 [LM_REFLECTING] = LM_CONDUCTING,
                                 [LM_ABSORBING] = LM_OPEN,
                                 [LM_THERMAL] = LM_CONDUCTING,
                                 [LM_INFLOW] = LM_FIELDS_INFLOW};
    return fields[boundary];
}

static void resolve_fields(struct lm_config_reader *r, int side)
{
    struct lm_config *c = r->config;
    int key = key_of("fields_", side), *fields = &c->boundary_fields[side], boundary = c->boundary[side];
    if (c->fields.solver == LM_NOT_CHOSEN || boundary == LM_NOT_CHOSEN ||
        (r->key_line[key] && *fields == LM_NOT_CHOSEN))
        return; /* an error that has been reported */
    if (c->fields.solver == LM_SOLVER_NONE) {
        if (*fields > LM_FIELDS_PERIODIC)
            report(r, key,
                   "has a meaning only with fields.solver = hybrid: prescribed fields continue beyond the sides");
        *fields = LM_FIELDS_PERIODIC;
    } else if (!r->key_line[key]) {
        *fields = default_fields(boundary);
    } else if ((*fields == LM_FIELDS_PERIODIC) != (boundary == LM_PERIODIC)) {
        char wrong[128];
        snprintf(wrong, sizeof wrong, "fields are periodic where the particles are and nowhere else: see boundary.%s",
                 lm_side_names[side]);
        report(r, key, wrong);
    }
}

/* Why this side cannot have a layer; NULL: it can. */
static const char *wrong_layer(const struct lm_config *c, int side)
{
    double size = side == LM_X_MIN || side == LM_X_MAX ? c->grid.lx : c->grid.ly;
    if (c->fields.solver == LM_SOLVER_NONE)
        return "has a meaning only with fields.solver = hybrid: prescribed fields have no waves";
    if (c->boundary[side] == LM_PERIODIC)
        return "has a meaning only before a side that is not periodic";
    return size > 0.0 && c->layer[side] > size ? "the layer is wider than the domain" : NULL;
}

static void check_layers(struct lm_config_reader *r)
{
    const struct lm_config *c = r->config;
    int first = -1, eta = lm_keys_find("boundary", "layer_eta");
    for (int side = 0; side < LM_SIDES; side++) {
        if (!(c->layer[side] > 0.0))
            continue;
        int key = key_of("layer_", side);
        first = first < 0 ? key : first;
        if (wrong_layer(c, side))
            report(r, key, wrong_layer(c, side));
    }
    if (first >= 0 && !(c->layer_eta > 0.0) && !r->key_line[eta])
        report(r, first, "needs boundary.layer_eta as well");
    else if (first >= 0 && !(c->layer_eta > 0.0))
        report(r, eta, "the layers need a resistivity above 0");
    else if (first < 0 && c->layer_eta > 0.0)
        report(r, eta, "has a meaning only with a layer (layer_x_min, ...)");
}

void lm_config_check_sides(struct lm_config_reader *r)
{
    check_opposites(r);
    for (int side = 0; side < LM_SIDES; side++)
        resolve_fields(r, side);
    check_layers(r);
}

/* Checks one species beyond the sides. `work` has room for x, y and the density at the points of one side. */
static void check_inflow(struct lm_config_reader *r, const struct lm_grid *g, int s, double *work)
{
    const struct lm_config *c = r->config;
    const struct lm_species_config *p = &c->species[s];
    const char *text = lm_inflow_density(p), *name = text == p->density ? "density" : "inflow_density";
    int line = r->named_key_line[LM_SPECIES][s][lm_keys_find(LM_SPECIES_SECTION, name)];
    double *x = work, *y = work + lm_longest_side(g), *density = y + lm_longest_side(g);
    for (int side = 0; side < LM_SIDES; side++) {
        if (c->boundary[side] != LM_INFLOW)
            continue;
        int count = lm_side_points(g, (enum lm_side)side, x, y);
        if (lm_expr_at_least(c->names, text, (size_t)count, x, y, 0.0, 0.0, density)) {
            lm_problems_add(&r->problems, line, "species.%s.%s: beyond %s: %s", p->name, name, lm_side_names[side],
                            lm_error());
            return;
        }
    }
}

int lm_config_check_inflow(struct lm_config_reader *r)
{
    if (r->unusable_values || r->problems.count > 0)
        return LM_OK;
    struct lm_grid g = lm_config_grid(r->config);
    double *work = malloc(3 * sizeof *work * lm_longest_side(&g));
    if (!work)
        return lm_fail(LM_FAILED, "out of memory");
    for (int s = 0; s < r->config->species_count; s++)
        check_inflow(r, &g, s, work);
    free(work);
    return LM_OK;
}

/* --- fields that the flow chooses --- */

enum { EDGE_VALUES = 7 }; /* of a point, besides x and y */

/* The last cells before a side: the places of their centres, and room for values there. */
struct edge {
    int side, count;
    double *x, *y, *value[EDGE_VALUES];
};

/* Sums over these cells: of the density of ions times charge, times mass, and times temperature (that across B where
 * it is given); of the current of ions outwards, of its size, and of charge times the square of the thermal speed. */
struct flow {
    double charge, mass, pressure, current, size, speed2;
};

static struct edge edge_of(const struct lm_grid *g, int side, double *work)
{
    struct edge e = {.side = side, .x = work, .y = work + lm_longest_side(g)};
    for (int v = 0; v < EDGE_VALUES; v++)
        e.value[v] = work + (size_t)(2 + v) * lm_longest_side(g);
    e.count = lm_side_points(g, (enum lm_side)side, e.x, e.y);
    for (int k = 0; k < e.count; k++)
        (side / 2 == 0 ? e.x : e.y)[k] += (side % 2 ? -0.5 : 0.5) * (side / 2 == 0 ? g->dx : g->dy);
    return e;
}

/* Adds the ions of a species: those of the start, or those that inflow sides let in where there are none of these; at
 * an inflow side the other way round. A species whose expressions have no value in these cells is left out. */
static void add_species(const struct lm_config *c, const struct lm_species_config *p, const struct edge *e,
                        struct flow *to)
{
    const int across = p->temperature_kind == LM_TEMPERATURE_FIELD_ALIGNED ? 1 : 2,
              first = c->boundary[e->side] == LM_INFLOW;
    const char *const texts[] = {p->density,        lm_inflow_density(p), p->drift[e->side / 2],
                                 p->temperature[0], p->temperature[1],    p->temperature[across]};
    double *const *const value = e->value;
    for (int v = 0; v < 6; v++)
        if (lm_expr_at(c->names, texts[v], (size_t)e->count, e->x, e->y, 0.0, value[v]))
            return;
    for (int k = 0; k < e->count; k++) {
        const double n = fmax(value[first][k] > 0.0 ? value[first][k] : value[!first][k], 0.0), q = p->charge * n,
                     u = e->side % 2 ? value[2][k] : -value[2][k],
                     temperature = (value[3][k] + value[4][k] + value[5][k]) / 3.0;
        to->charge += q;
        to->mass += p->mass * n;
        to->pressure += n * (across == 1 ? value[4][k] : temperature);
        to->current += q * u;
        to->size += q * fabs(u);
        to->speed2 += q * temperature / p->mass;
    }
}

/* The mean flow of the ions out of the domain, over their mean thermal speed. 0: none flows out. */
static double outflow(const struct flow *sum)
{
    if (!(sum->current > ROUNDING * sum->size && sum->current > LEAST_FLOW * sum->charge))
        return 0.0;
    return sum->current / sqrt(sum->charge * sum->speed2);
}

/* The sum of B^2 over the cells, without the field of magnets. NAN: an expression has no value there. */
static double magnetic(const struct lm_config *c, const struct lm_grid *g, const struct edge *e)
{
    enum { AZ = 3, RIGHT, ABOVE, MOVED };
    const char *const az = c->fields.az[0] ? c->fields.az : "0";
    const double half_x = 0.5 * g->dx, half_y = 0.5 * g->dy;
    double *const *const value = e->value, sum = 0.0;
    int unknown = 0;
    for (int d = 0; d < 3; d++)
        unknown |= lm_expr_at(c->names, c->fields.b[d], (size_t)e->count, e->x, e->y, 0.0, value[d]);
    unknown |= lm_expr_at(c->names, az, (size_t)e->count, e->x, e->y, 0.0, value[AZ]);
    for (int k = 0; k < e->count; k++)
        value[MOVED][k] = e->x[k] + half_x;
    unknown |= lm_expr_at(c->names, az, (size_t)e->count, value[MOVED], e->y, 0.0, value[RIGHT]);
    for (int k = 0; k < e->count; k++)
        value[MOVED][k] = e->y[k] + half_y;
    unknown |= lm_expr_at(c->names, az, (size_t)e->count, e->x, value[MOVED], 0.0, value[ABOVE]);
    for (int k = 0; k < e->count && !unknown; k++) {
        const double bx = value[0][k] + (value[ABOVE][k] - value[AZ][k]) / half_y,
                     by = value[1][k] - (value[RIGHT][k] - value[AZ][k]) / half_x, bz = value[2][k];
        sum += bx * bx + by * by + bz * bz;
    }
    return unknown ? NAN : sum;
}

/* The sum of the pressure of the electrons over the cells. NAN: an expression has no value there. */
static double electron_pressure(const struct lm_config *c, const struct edge *e, double density, double gamma)
{
    const char *const profile = c->electrons.initial_temperature;
    double sum = 0.0;
    if (!profile[0])
        return c->electrons.temperature * pow(density, gamma) * e->count;
    if (lm_expr_at(c->names, profile, (size_t)e->count, e->x, e->y, 0.0, e->value[0]))
        return NAN;
    for (int k = 0; k < e->count; k++)
        sum += density * e->value[0][k];
    return sum;
}

/* The mean flow of the ions into the domain, over the speed of fast waves across B; 0 where only rounding makes a flow.
 * NAN: it is not known. */
static double inflow(const struct lm_config *c, const struct lm_grid *g, const struct edge *e, const struct flow *sum)
{
    const double gamma = c->electrons.closure == LM_ISOTHERMAL ? 1.0 : c->electrons.gamma,
                 electrons = electron_pressure(c, e, sum->charge / e->count, gamma),
                 fast2 = (magnetic(c, g, e) + gamma * electrons + GAMMA_IONS * sum->pressure) / sum->mass,
                 current = fabs(sum->current) > ROUNDING * sum->size ? -sum->current : 0.0;
    return current / sum->charge / sqrt(fast2);
}

/* What the flow makes of a side of which the file leaves it to the flow. `work` has room for what an edge needs. */
static void choose_fields(struct lm_config *c, const struct lm_grid *g, int side, double *work)
{
    const int along = side / 2 == 0 ? LM_Y_MIN : LM_X_MIN,
              can_radiate = c->boundary[along] == LM_PERIODIC && !(c->layer[side] > 0.0);
    const struct edge e = edge_of(g, side, work);
    struct flow sum = {0};
    for (int s = 0; s < c->species_count; s++)
        add_species(c, &c->species[s], &e, &sum);
    const int is_inflow = c->boundary[side] == LM_INFLOW,
              beside_radiating =
                  c->boundary_fields[along] == LM_RADIATING || c->boundary_fields[along + 1] == LM_RADIATING;
    const double speed = is_inflow ? inflow(c, g, &e, &sum) : outflow(&sum);
    const int changes = is_inflow ? speed < 1.0 - ROUNDING && !beside_radiating
                                  : speed >= LEAST_OUTFLOW * (1.0 - ROUNDING) && can_radiate;
    if (!changes)
        return;
    c->boundary_fields[side] = can_radiate ? LM_RADIATING : LM_OPEN;
    c->boundary_speed[side] = speed;
    c->boundary_by_flow[side] = LM_CHANGED_BY_FLOW;
}

int lm_config_choose_fields(struct lm_config_reader *r)
{
    struct lm_config *c = r->config;
    if (r->unusable_values || r->problems.count > 0)
        return LM_OK;
    const struct lm_grid g = lm_config_grid(c);
    double *work = malloc((2 + EDGE_VALUES) * sizeof *work * lm_longest_side(&g));
    if (!work)
        return lm_fail(LM_FAILED, "out of memory");
    for (int side = 0; side < LM_SIDES; side++) {
        const int fields = c->boundary_fields[side], key = key_of("fields_", side);
        if (r->key_line[key] || (fields != LM_OPEN && fields != LM_FIELDS_INFLOW))
            continue;
        c->boundary_by_flow[side] = LM_LEFT_TO_FLOW;
        choose_fields(c, &g, side, work);
    }
    free(work);
    return LM_OK;
}
