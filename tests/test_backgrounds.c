/* Background fields in whole runs: their ledgers, restarts to the bit, outputs, and what stops a run. */
#include <check.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "inside.h"
#include "require.h"
#include "sim_run.h"
#include "series_row.h"
#include "suite.h"
#include "larmor/physics/fluid/advect.h"

/* Everything that changes with time, a body across the periodic sides, growth beyond the first quanta. */
static const char open_text[] =
    "[run]\nsteps = 40\ndt = 0.05\nseed = 3\n[grid]\nnx = 24\nny = 16\nlx = 6\nly = 4\n"
    "[electrons]\ntemperature = 0.2\n[fields]\nbx = 0.2\nbz = 1\neta_hyper = 1e-3\n"
    "[boundary]\nx_min = inflow\nx_max = absorbing\n"
    "[species.p]\nparticles_per_cell = 8\ntemperature = 0.1\ndrift_x = 0.8\n"
    "[body.moon]\nshape = disk\nx = 3\ny = 0\nradius = 0.8\nfields = transparent\n"
    "[background.dye]\ninitial = exp(-(x-1)^2)\nstream = y*(1 + 0.5*sin(t)) + 0.1*cos(x)\ninflow = 0.2*sin(t)^2\n"
    "bounds = on\nmaximum = 1\n"
    "[background.gas]\nkind = neutral_gas\ninitial = 0.01\nvelocity = ion\ninflow = 0.01\nsource = t*(y > 2)\n"
    "[background.heat]\ninitial = 1 + 0.2*sin(y)\nvelocity = electron\ndiffusivity = 0.02\nx_min = wall\nx_max = wall\n"
    "weno = 5\nsmoothness = single\n";

static const char periodic_text[] = "[run]\nsteps = 40\ndt = 0.05\n[grid]\nnx = 32\nny = 6\nlx = 4\nly = 1.5\n"
                                    "[fields]\nsolver = none\n[species.p]\nparticles_per_cell = 2\n"
                                    "[background.q]\ninitial = 2 + sin(2*pi*x/lx)\n";

static uint64_t fingerprint(struct lm_sim *sim)
{
    uint64_t print;
    ck_assert_int_eq(lm_sim_fingerprint(sim, &print), LM_OK);
    return print;
}

static void output_here(struct lm_sim *sim)
{
    struct lm_config *c = (struct lm_config *)sim->config;
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
}

/* The sum over the cells is the ledger's total, and its parts add up to it. */
static void assert_books(struct lm_sim *sim)
{
    for (int f = 0; f < sim->config->background_count; f++) {
        const struct lm_background_ledger *l = &sim->background[f].ledger;
        double *q = array_of(sim, LM_BACKGROUND + f), least = INFINITY, most = -INFINITY;
        require(lm_background_sum(&sim->grid, q, l->exponent) == l->total);
        require(lm_background_residual(l) == 0);
        for (int j = 0; j < sim->grid.ny; j++)
            for (int i = 0; i < sim->grid.nx; i++) {
                const double v = q[lm_at(&sim->grid, i, j)];
                if (sim->mask && sim->mask[j * sim->grid.nx + i]) {
                    require(v == 0);
                    continue;
                }
                least = fmin(least, v);
                most = fmax(most, v);
            }
        require(least == sim->background[f].least && most == sim->background[f].most);
        free(q);
    }
}

START_TEST(books_of_every_step)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    const struct lm_background_ledger *dye = &sim->background[0].ledger, *gas = &sim->background[1].ledger,
                                      *heat = &sim->background[2].ledger;
    assert_books(sim);
    ck_assert(dye->quantum == dye->exponent && dye->loaded == dye->total && dye->loaded > 0);
    ck_assert_int_eq(dye->exponent, lm_background_quantum(sim->background[0].most));
    const int exponent = gas->exponent;
    for (int n = 1; n <= 40; n++) {
        advance(sim, n);
        assert_books(sim);
        ck_assert(sim->background[0].least >= 0 && sim->background[0].most <= 1);
    }
    ck_assert(dye->entered[LM_X_MIN] > 0 && dye->entered[LM_X_MAX] < 0 && dye->source == 0);
    ck_assert(gas->source > 0 && gas->rounded != 0 && gas->exponent == exponent && gas->quantum < exponent);
    ck_assert(heat->entered[LM_X_MIN] == 0 && heat->entered[LM_X_MAX] == 0 && heat->source == 0);
    for (int f = 0; f < 3; f++)
        ck_assert(sim->background[f].ledger.entered[LM_Y_MIN] == 0);
    sim_free(sim);
}
END_TEST

/* A run cut after step _i and gone on with is the run that was not cut, also in what it tells. */
START_TEST(restarts)
{
    struct lm_sim *whole = sim_new(open_text, NULL), *part;
    struct lm_config *c = config_new(open_text, NULL);
    const struct lm_references references = {0};
    struct lm_checkpoint head;
    char path[LM_MAX_PATH];
    uint64_t stored;
    output_here(whole);
    advance(whole, _i);
    ck_assert_msg(!lm_sim_save(whole, &references, 0, path), "%s", lm_error());
    ck_assert_msg(!lm_checkpoint_fingerprint(path, &stored), "%s", lm_error());
    ck_assert(stored == fingerprint(whole));
    ck_assert_msg(!lm_sim_create(c, &part) && !restore_checkpoint(part, path, &head), "%s", lm_error());
    ck_assert_int_eq(head.background_count, 3);
    ck_assert_int_eq(head.field_count, LM_STATE_FIELDS + 3 + 3);
    assert_books(part);
    advance(whole, 24);
    advance(part, 24);
    ck_assert(fingerprint(part) == fingerprint(whole));
    for (int f = 0; f < 3; f++) {
        const struct lm_sim_background *a = &whole->background[f], *b = &part->background[f];
        ck_assert_mem_eq(&a->ledger, &b->ledger, sizeof a->ledger);
        ck_assert(a->least == b->least && a->most == b->most && a->substeps == b->substeps);
    }
    lm_sim_destroy(&part);
    lm_config_free(c);
    free(c);
    sim_free(whole);
}
END_TEST

/* A field that has grown 12-fold in the step before, beyond what the next one begins with: that step takes larger
 * quanta, also after a restart. */
START_TEST(restarts_after_growth)
{
    static const char text[] = "[run]\nsteps = 3\ndt = 0.05\n[grid]\nnx = 40\nny = 8\nlx = 4\nly = 0.8\n"
                               "[boundary]\nx_min = reflecting\nx_max = reflecting\n[fields]\nsolver = none\n"
                               "[species.p]\nparticles_per_cell = 2\ntemperature = 0.01\n"
                               "[background.q]\ninitial = 0.99\nvx = 50*(2-x)\n";
    struct lm_sim *whole = sim_new(text, NULL), *part;
    struct lm_config *c = config_new(text, NULL);
    const struct lm_references references = {0};
    struct lm_checkpoint head;
    char path[LM_MAX_PATH];
    output_here(whole);
    advance(whole, 1);
    ck_assert(whole->background[0].most > ldexp(1, LM_QUANTA_BITS - whole->background[0].ledger.quantum));
    ck_assert_msg(!lm_sim_save(whole, &references, 0, path), "%s", lm_error());
    ck_assert_msg(!lm_sim_create(c, &part) && !restore_checkpoint(part, path, &head), "%s", lm_error());
    assert_books(part);
    advance(whole, 3);
    advance(part, 3);
    ck_assert(fingerprint(part) == fingerprint(whole));
    ck_assert_mem_eq(&whole->background[0].ledger, &part->background[0].ledger, sizeof part->background[0].ledger);
    lm_sim_destroy(&part);
    lm_config_free(c);
    free(c);
    sim_free(whole);
}
END_TEST

static void assert_refuses(const char *path, const char *text, const char *expected)
{
    struct lm_config *c = config_new(text, NULL);
    struct lm_sim *sim;
    struct lm_checkpoint head;
    ck_assert_msg(!lm_sim_create(c, &sim), "%s", lm_error());
    ck_assert_int_eq(restore_checkpoint(sim, path, &head), LM_BAD_INPUT);
    assert_error_has(expected);
    assert_error_has(path);
    lm_sim_destroy(&sim);
    lm_config_free(c);
    free(c);
}

static void checkpoint_of(const char *text, char *path)
{
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_references references = {0};
    output_here(sim);
    advance(sim, 3);
    ck_assert_msg(!lm_sim_save(sim, &references, 0, path), "%s", lm_error());
    sim_free(sim);
}

/* `text` with its first `from` replaced. */
static const char *with(const char *text, const char *from, const char *to)
{
    static char turns[2][4096];
    static int turn;
    char *out = turns[turn++ % 2];
    const char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    snprintf(out, sizeof turns[0], "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

START_TEST(other_fields_are_refused)
{
    char path[LM_MAX_PATH];
    checkpoint_of(open_text, path);
    assert_refuses(path, with(open_text, "[background.dye]", "[background.ink]"),
                   "background field 1 is 'dye' there, kind tracer, and 'ink', kind tracer, in the run");
    assert_refuses(path, with(open_text, "kind = neutral_gas", "kind = tracer"),
                   "background field 2 is 'gas' there, kind neutral_gas, and 'gas', kind tracer, in the run");
    assert_refuses(
        path, with(open_text, "x_max = wall", "x_max = open"),
        "the background field heat has a wall at x_max there, and open in the run: set background.heat.x_max");
    assert_refuses(path,
                   with(open_text, "[background.dye]", "[background.more]\ninitial = 1\ninflow = 1\n[background.dye]"),
                   "a checkpoint with 3 background fields; the run has 4");
    char none[2048];
    snprintf(none, sizeof none, "%.*s", (int)(strstr(open_text, "[background.dye]") - open_text), open_text);
    assert_refuses(path, none, "a checkpoint with 3 background fields; the run has 0");
}
END_TEST

/* Its checksum is made anew: what it says is wrong, not that its bytes are others. */
static void damage_field(const char *path, const char *name, double change)
{
    static double q[16 * 24];
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, name, H5P_DEFAULT);
    ck_assert_int_ge(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q), 0);
    q[100] += change;
    ck_assert_int_ge(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q), 0);
    H5Dclose(data);
    H5Fclose(file);
    ck_assert_int_eq(lm_checksum_write(path), LM_OK);
}

static void damage_sum(const char *path, const char *group, const char *name, int64_t change)
{
    int64_t value;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), at = H5Gopen2(file, group, H5P_DEFAULT);
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    ck_assert_int_ge(H5Aread(attribute, H5T_NATIVE_INT64, &value), 0);
    value += change;
    ck_assert_int_ge(H5Awrite(attribute, H5T_NATIVE_INT64, &value), 0);
    H5Aclose(attribute);
    H5Gclose(at);
    H5Fclose(file);
    ck_assert_int_eq(lm_checksum_write(path), LM_OK);
}

START_TEST(damaged_files_are_refused)
{
    char path[LM_MAX_PATH];
    checkpoint_of(open_text, path);
    damage_field(path, "/fields/background_gas", 0x1p-48);
    assert_refuses(path, open_text, "the background field gas is not what its ledger says");
    checkpoint_of(open_text, path);
    damage_sum(path, "/backgrounds/heat", "total_low", 1);
    assert_refuses(path, open_text, "background field heat: its ledger does not close");
    damage_sum(path, "/backgrounds/heat", "loaded_low", 1); /* it closes, with another total */
    assert_refuses(path, open_text, "the background field heat is not what its ledger says");
    checkpoint_of(open_text, path);
    damage_sum(path, "/backgrounds/dye", "quantum", 1);
    assert_refuses(path, open_text, "background field dye: quanta of ");
    checkpoint_of(open_text, path);
    damage_sum(path, "/backgrounds", "count", 6);
    assert_refuses(path, open_text, "9 background fields; the file is damaged");
}
END_TEST

/* --- the time series --- */

START_TEST(columns)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    advance(sim, 20);
    struct row r = row_of(sim);
    const double cell = 0.25 * 0.25;
    const struct lm_background_ledger *l = &sim->background[1].ledger;
    const double scale = cell * ldexp(1, -l->exponent);
    require_near(value(&r, "background_gas_total"), (double)l->total * scale, 1e-12);
    require_near(value(&r, "background_gas_entered_x_min"), (double)l->entered[LM_X_MIN] * scale, 1e-12);
    require_near(value(&r, "background_gas_entered_x_max"), (double)l->entered[LM_X_MAX] * scale, 1e-12);
    require_near(value(&r, "background_gas_source"), (double)l->source * scale, 1e-12);
    ck_assert(value(&r, "background_gas_min") == sim->background[1].least);
    ck_assert(value(&r, "background_gas_max") == sim->background[1].most);
    ck_assert(value(&r, "background_heat_substeps") == (double)sim->background[2].substeps);
    ck_assert(value(&r, "background_dye_residual") == 0);
    ck_assert_str_eq(find(&r, "background_gas_total")->unit, "n0 d_i^2");
    ck_assert_str_eq(find(&r, "background_dye_total")->unit, "d_i^2");
    ck_assert_str_eq(find(&r, "background_gas_max")->unit, "n0");
    ck_assert_str_eq(find(&r, "background_dye_max")->unit, "");
    ck_assert_ptr_null(find(&r, "background_dye_source"));
    ck_assert_ptr_null(find(&r, "background_heat_entered_x_min"));
    ck_assert_ptr_null(find(&r, "background_gas_entered_y_min"));
    /* By hand: half of the domain but for the body gains the integral of t. */
    double cells = 0;
    for (int j = 8; j < 16; j++)
        for (int i = 0; i < 24; i++)
            cells += !sim->mask[j * 24 + i];
    require_near(value(&r, "background_gas_source"), cells * cell * 0.5, 1e-9);
    free(r.columns);
    sim->background[0].ledger.total -= 3;
    r = row_of(sim);
    ck_assert(value(&r, "background_dye_residual") == 3);
    free(r.columns);
    sim_free(sim);
}
END_TEST

START_TEST(colliding_names_are_refused)
{
    struct lm_config *c = config_new(with(open_text, "[background.heat]", "[background.dye_entered_x]"), NULL);
    struct lm_series_column *columns = NULL;
    int count;
    ck_assert_int_eq(lm_row_columns(c, &count, &columns), LM_BAD_INPUT);
    assert_error_has("two columns of the time series the name background_dye_entered_x_m");
    free(columns);
    lm_config_free(c);
    free(c);
}
END_TEST

/* --- flows --- */

/* Mean of |q - exact| over a row; exact = 2 + sin(2 pi (x - shift) / lx). */
static double error_of_row(struct lm_sim *sim, int j, double shift)
{
    double *q = array_of(sim, LM_BACKGROUND), sum = 0;
    for (int i = 0; i < sim->grid.nx; i++)
        sum += fabs(q[lm_at(&sim->grid, i, j)] - 2 - sin(2 * M_PI * ((i + 0.5) * sim->grid.dx - shift) / 4));
    free(q);
    return sum / sim->grid.nx;
}

static double error_of(struct lm_sim *sim, double shift)
{
    double sum = 0;
    for (int j = 0; j < sim->grid.ny; j++)
        sum += error_of_row(sim, j, shift) / sim->grid.ny;
    return sum;
}

/* A flow that grows with time carries by the integral of what it is in the middle of the steps. */
START_TEST(given_flows)
{
    static const struct {
        const char *keys;
        double shift; /* at t = 2 */
        int substeps;
    } flows[] = {{"vx = 0.5", 1, 1},
                 {"vx = t", 2, 2},
                 {"stream = y*t", 2, 2},
                 {"stream = -0.5*y", -1, 1},
                 {"vx = 0.5\nbounds = on\ncourant = 0.7", 1, 2}, /* 0.2 of a cell is above 0.7 / 6 */
                 {"vx = 0.5\ndiffusivity = 0.1", 0, 2}};
    for (size_t k = 0; k < sizeof flows / sizeof *flows; k++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s\n", periodic_text, flows[k].keys);
        struct lm_sim *sim = sim_new(text, NULL);
        const lm_int128 total = sim->background[0].ledger.total;
        advance(sim, 40);
        ck_assert_int_eq((int)sim->background[0].substeps, flows[k].substeps);
        ck_assert(sim->background[0].ledger.total == total);
        if (k < 5)
            require_near(error_of(sim, flows[k].shift), 0, 2e-3);
        else
            ck_assert_double_lt(sim->background[0].most, 2 + 1.02 * exp(-0.1 * M_PI * M_PI / 4 * 2));
        sim_free(sim);
    }
}
END_TEST

/* Nothing goes through walls and bodies, whatever is given. */
START_TEST(shut_flows)
{
    static const char *const sides[] = {"x_min = wall", "x_max = wall", "y_min = wall", "y_max = wall"};
    for (int side = 0; side < LM_SIDES; side++) {
        char text[1024];
        snprintf(text, sizeof text, "%svx = 1\nvy = 2\nx_min = open\nx_max = open\ny_min = open\ny_max = open\n",
                 with(periodic_text, "[background.q]",
                      "[boundary]\nx_min = absorbing\nx_max = absorbing\ny_min = absorbing\ny_max = absorbing\n"
                      "[body.b]\nshape = box\nx = 2\ny = 0.75\nwidth = 0.25\nheight = 0.5\n[background.q]"));
        char open[16];
        snprintf(open, sizeof open, "%.5s = open", sides[side]);
        struct lm_sim *sim = sim_new(with(text, open, sides[side]), NULL);
        const struct lm_grid *g = &sim->grid;
        double *vx = array_of(sim, LM_BACKGROUND_X), *vy = array_of(sim, LM_BACKGROUND_Y);
        for (int j = 0; j < g->ny; j++)
            for (int i = -1; i < g->nx; i++) {
                const int solid = (i >= 14 && i <= 16) && (j == 2 || j == 3);
                const int wall = (side == LM_X_MIN && i == -1) || (side == LM_X_MAX && i == g->nx - 1);
                require(vx[lm_at(g, i, j)] == (solid || wall ? 0 : 1));
            }
        for (int j = -1; j < g->ny; j++)
            for (int i = 0; i < g->nx; i++) {
                const int solid = (i == 15 || i == 16) && j >= 1 && j <= 3;
                const int wall = (side == LM_Y_MIN && j == -1) || (side == LM_Y_MAX && j == g->ny - 1);
                require(vy[lm_at(g, i, j)] == (solid || wall ? 0 : 2));
            }
        free(vx);
        free(vy);
        sim_free(sim);
    }
}
END_TEST

/* Ions in uniform motion and, without a current, their electrons. */
START_TEST(carried)
{
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%svelocity = %s\n[particles]\nshape = linear\n[species.d]\nstart = quiet\ndrift_x = 0.5\n",
                 periodic_text, k ? "electron" : "ion");
        struct lm_sim *sim = sim_new(with(text, "particles_per_cell = 2", "density = 0"), NULL);
        advance(sim, 40);
        require_near(error_of(sim, 1), 0, 2e-3);
        sim_free(sim);
    }
}
END_TEST

/* Electrons at u_i - J/n; ions at rest have no share in it. */
START_TEST(carried_by_a_current)
{
    char text[1024];
    snprintf(text, sizeof text, "%.512s[species.d]\nstart = quiet\nparticles_per_cell = 64\n",
             with(periodic_text, "particles_per_cell = 2", "density = 0"));
    snprintf(text, sizeof text, "%s", with(text, "[background.q]", "[background.q]\nvelocity = electron"));
    snprintf(text, sizeof text, "%s", with(text, "solver = none", "solver = none\nbz = 0.2*sin(2*pi*y/ly)"));
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, 40);
    for (int j = 0; j < 6; j++) {
        const double j_x = 0.2 * (sin(2 * M_PI * (j + 1) / 6) - sin(2 * M_PI * j / 6)) / 0.25;
        require_near(error_of_row(sim, j, -2 * j_x), 0, 2e-3);
    }
    sim_free(sim);
}
END_TEST

/* --- what stops a run --- */

static void stops(const char *text, int64_t last_good, const char *expected)
{
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, last_good);
    int status = lm_sim_check(sim);
    ck_assert_int_eq(status ? status : lm_sim_step(sim), LM_FAILED);
    assert_error_has(expected);
    sim_free(sim);
}

START_TEST(stopped)
{
    char text[1024];
    snprintf(text, sizeof text, "%svx = 1/max(0.2 - t, 1e-9)\n", periodic_text);
    stops(text, 4, "the background field q needs 6.67e+08 substeps (limit 1e+06)");
    snprintf(text, sizeof text, "%ssource = log(0.17 - t)\n", periodic_text);
    stops(text, 3, "background.q.source: \"log(0.17 - t)\" is not a number");
    snprintf(text, sizeof text, "%.512ssource = 1e20*t\n", with(periodic_text, "2 + sin(2*pi*x/lx)", "0"));
    struct lm_sim *sim = sim_new(text, NULL); /* quanta for what the source gives */
    advance(sim, 40);
    require_near(sim->background[0].most, 2e20, 1e8);
    ck_assert(sim->background[0].ledger.rounded != 0 ||
              sim->background[0].ledger.quantum < sim->background[0].ledger.exponent);
    sim_free(sim);
    snprintf(text, sizeof text, "%ssource = t < 0.1 ? 0 : 1e200\n", periodic_text);
    stops(text, 2, "it must stay below 1e+150");
}
END_TEST

/* A pulse begins at next to nothing: its ledger goes over to larger units on the way. */
START_TEST(pulse)
{
    char text[1024];
    snprintf(text, sizeof text, "%.512ssource = exp(-(t - 1)^2/0.005)\n",
             with(periodic_text, "2 + sin(2*pi*x/lx)", "0"));
    struct lm_sim *sim = sim_new(text, NULL);
    const struct lm_background_ledger *l = &sim->background[0].ledger;
    const int exponent = l->exponent;
    ck_assert_int_gt(exponent, 47 + 200);
    for (int n = 1; n <= 40; n++) {
        advance(sim, n);
        assert_books(sim);
    }
    ck_assert_int_lt(l->exponent, 100);
    require_near(sim->background[0].most, sqrt(0.005 * M_PI), 1e-9); /* midpoint rule, in the middle of steps of 0.05 */
    ck_assert_double_lt(fabs(lm_background_value(l, l->rounded)), 1e-12);
    sim_free(sim);
}
END_TEST

/* A ledger that does not close, and a field that is not finite, stop the run. */
START_TEST(wrong_books)
{
    struct lm_sim *sim = sim_new(periodic_text, NULL);
    sim->background[0].ledger.source += 1;
    ck_assert_int_eq(lm_sim_check(sim), LM_OK);
    ck_assert_int_eq(lm_sim_step(sim), LM_FAILED);
    assert_error_has("step 1: the ledger of background q does not close");
    sim_free(sim);
    sim = sim_new(periodic_text, NULL);
    double *q = array_of(sim, LM_BACKGROUND);
    q[lm_at(&sim->grid, 3, 2)] = NAN;
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_BACKGROUND, q), LM_OK);
    free(q);
    ck_assert_int_eq(lm_sim_step(sim), LM_OK);
    ck_assert_int_eq(lm_sim_check(sim), LM_FAILED);
    assert_error_has("step 2 (from t = 0.05) cannot be taken: the background field q is not finite");
    sim_free(sim);
}
END_TEST

START_TEST(bad_starts)
{
    struct lm_config *c = config_new(with(periodic_text, "2 + sin(2*pi*x/lx)", "1e200"), NULL);
    struct lm_sim *sim;
    ck_assert_int_eq(lm_sim_create(c, &sim), LM_OK);
    ck_assert_int_eq(lm_sim_start(sim), LM_BAD_INPUT);
    assert_error_has("[background.q]: values up to 1e+200");
    lm_sim_destroy(&sim);
    lm_config_free(c);
    free(c);
}
END_TEST

/* --- files --- */

START_TEST(field_files)
{
    struct lm_sim *sim = sim_new(open_text, NULL);
    output_here(sim);
    ck_assert_msg(!lm_output_fields(sim, sim->config), "%s", lm_error());
    static double q[16 * 24], powers[7];
    const char *const names[] = {"dye", "gas"};
    hid_t file = H5Fopen(scratch_path("fields/data_00000000.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        char name[64];
        snprintf(name, sizeof name, "/data/0/meshes/background_%s", names[k]);
        hid_t data = H5Dopen2(file, name, H5P_DEFAULT), at = H5Aopen(data, "unitDimension", H5P_DEFAULT);
        ck_assert_int_ge(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q), 0);
        ck_assert_int_ge(H5Aread(at, H5T_NATIVE_DOUBLE, powers), 0);
        ck_assert(powers[0] == (k ? -3 : 0));
        double *a = array_of(sim, LM_BACKGROUND + k);
        for (int n = 0; n < 16 * 24; n++)
            require(q[n] == a[lm_at(&sim->grid, n % 24, n / 24)]);
        free(a);
        H5Aclose(at);
        H5Dclose(data);
    }
    H5Fclose(file);
    sim_free(sim);
}
END_TEST

START_TEST(told_of_a_checkpoint)
{
    char path[LM_MAX_PATH], *out = NULL;
    size_t length = 0;
    checkpoint_of(open_text, path);
    FILE *to = open_memstream(&out, &length);
    ck_assert_msg(!lm_info_print(path, to), "%s", lm_error());
    fclose(to);
    static const char *const parts[] = {"  background dye: tracer, total ", "  background gas: neutral gas, total ",
                                        " entered, ", "from the source", "background_heat "};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        ck_assert_msg(strstr(out, parts[k]) != NULL, "no '%s' in %s", parts[k], out);
    free(out);
}
END_TEST

START_TEST(summary)
{
    struct lm_config *c = config_new(open_text, "run.steps=10");
    const struct lm_run_options quiet = {.quiet = 1};
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch_path("out"));
    ck_assert_msg(!lm_run(c, &quiet), "%s", lm_error());
    json_error_t wrong;
    json_t *run = json_load_file(scratch_path("out/run.json"), 0, &wrong), *list = json_object_get(run, "backgrounds");
    ck_assert_int_eq((int)json_array_size(list), 3);
    json_t *gas = json_array_get(list, 1), *entered = json_object_get(gas, "entered");
    ck_assert_str_eq(json_string_value(json_object_get(gas, "name")), "gas");
    ck_assert_int_eq((int)json_integer_value(json_object_get(gas, "residual")), 0);
    double sum = 0;
    const char *const parts[] = {"loaded", "source", "rounded"};
    for (int k = 0; k < 3; k++)
        sum += json_number_value(json_object_get(gas, parts[k]));
    ck_assert_int_eq((int)json_object_size(entered), 2);
    sum += json_number_value(json_object_get(entered, "x_min")) + json_number_value(json_object_get(entered, "x_max"));
    require_near(sum, json_number_value(json_object_get(gas, "total")), 1e-10);
    ck_assert_double_gt(json_number_value(json_object_get(gas, "maximum")), 0.01);
    json_decref(run);
    lm_config_free(c);
    free(c);
}
END_TEST

static char *check_of(const char *text)
{
    char *out = NULL;
    size_t length = 0;
    struct lm_config *c = config_new(text, NULL);
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    lm_config_free(c);
    free(c);
    return out;
}

static void check_says(const char *more, const char *expected)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n", periodic_text, more);
    char *out = check_of(text);
    ck_assert_msg(strstr(out, expected) != NULL, "no \"%s\" in %s", expected, out);
    free(out);
}

START_TEST(checked)
{
    check_says("vx = 2", "q: tracer, weno 7, velocity prescribed; x_min periodic,");
    check_says("vx = 2", "    2 substeps in the first step\n");
    check_says("velocity = ion\ndiffusivity = 0.1", "    2 substeps or more in a step: they follow the flow\n");
    check_says("bounds = on\nmaximum = 3", "    1 substeps in the first step\n");
    check_says("vx = sin(2*pi*x/lx)\nbounds = on\nmaximum = 9", "its flow can have a divergence");
    check_says("vx = 1\nbounds = on\nsource = -1", "its source knows no bounds");
    check_says("vx = 1e5", "so many substeps take long");
    char *out = check_of(open_text);
    ck_assert_ptr_null(strstr(out, "divergence"));
    free(out);
}
END_TEST

/* What a field needs of memory. */
START_TEST(memory)
{
    struct lm_config *c = config_new(open_text, NULL);
    struct lm_setup setup = lm_setup_of(c);
    const uint64_t counts[LM_MAX_SPECIES] = {1000};
    const double size = 8 * (double)setup.grid.size;
    for (int kind = LM_BACKEND_CPU; kind <= LM_BACKEND_CUDA; kind++) {
        const double all = lm_backend_bytes(kind, &setup, counts);
        setup.background_count = 0;
        const double none = lm_backend_bytes(kind, &setup, counts);
        setup.background_count = 3; /* dye: 3; gas: 2; heat: 1; flows: 4; a byte a cell */
        require_near(all - none, size * (kind == LM_BACKEND_CUDA ? 12.125 : 10.125), 1);
    }
    lm_config_free(c);
    free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields in runs");
    TCase *t = tcase_create("backgrounds");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, books_of_every_step);
    tcase_add_loop_test(t, restarts, 0, 24);
    tcase_add_test(t, restarts_after_growth);
    tcase_add_test(t, other_fields_are_refused);
    tcase_add_test(t, damaged_files_are_refused);
    tcase_add_test(t, columns);
    tcase_add_test(t, colliding_names_are_refused);
    tcase_add_test(t, given_flows);
    tcase_add_test(t, shut_flows);
    tcase_add_test(t, carried);
    tcase_add_test(t, carried_by_a_current);
    tcase_add_test(t, stopped);
    tcase_add_test(t, pulse);
    tcase_add_test(t, wrong_books);
    tcase_add_test(t, bad_starts);
    tcase_add_test(t, field_files);
    tcase_add_test(t, told_of_a_checkpoint);
    tcase_add_test(t, summary);
    tcase_add_test(t, checked);
    tcase_add_test(t, memory);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
