/* Whole runs with walls for the fields: restarts to the bit, and the resistivity that layers and bodies add. */
#include <check.h>
#include <math.h>

#include "inside.h"
#include "require.h"
#include "scratch.h"
#include "suite.h"

static const char *const text = "[run]\nt_end = 1\ndt = 0.02\nseed = 5\n[grid]\nnx = 20\nny = 12\nlx = 10\nly = 6\n"
                                "[electrons]\nclosure = polytropic\ntemperature = 0.3\n"
                                "[fields]\nbx = 0.3\nby = 0.1\nbz = 1 + 0.1*sin(x)*cos(y)\neta = 0.01 + 0.001*x\n"
                                "eta_hyper = 1e-4\nsmoothing = 2\naz = 0.1*cos(2*pi*(x/lx + y/ly))\n"
                                "[species.p]\nparticles_per_cell = 12\ndrift_x = 0.2\ntemperature = 0.4\n";

static const int kinds[][LM_SIDES] = {{LM_CONDUCTING, LM_OPEN, LM_INFLOW_B, LM_INFLOW_E},
                                      {LM_INFLOW_E, LM_CONDUCTING, LM_CONDUCTING, LM_INFLOW_E},
                                      {LM_OPEN, LM_INFLOW_B, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC},
                                      {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_INFLOW_E, LM_OPEN},
                                      {LM_RADIATING, LM_CONDUCTING, LM_INFLOW_B, LM_RADIATING},
                                      {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_RADIATING, LM_RADIATING},
                                      {LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC, LM_FIELDS_PERIODIC}};
enum { CASES = sizeof kinds / sizeof *kinds };

/* The sides are set in what has been read. `hollow`: with a void that reaches sides. */
static struct lm_config *config_of(const int *fields, int hollow)
{
    struct lm_config *c = calloc(1, sizeof *c);
    const char *overrides[] = {"run.backend=cpu", "run.threads=1", "species.p.density=(x-5)^2+(y-3)^2 < 4 ? 1 : 0"};
    ck_assert_msg(!lm_config_read_text("walls.ini", text, 2 + hollow, overrides, c), "%s", lm_error());
    for (int side = 0; side < LM_SIDES; side++) {
        c->boundary_fields[side] = fields[side];
        c->boundary[side] = fields[side] == LM_FIELDS_PERIODIC ? LM_PERIODIC
                            : side == LM_Y_MAX                 ? LM_ABSORBING
                                                               : LM_REFLECTING;
    }
    snprintf(c->fields.e[1], sizeof c->fields.e[1], "-0.05*sin(2*pi*x/lx)");
    snprintf(c->fields.e[2], sizeof c->fields.e[2], "0.02");
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch_path("out"));
    return c;
}

static void config_free(struct lm_config *c)
{
    lm_config_free(c);
    free(c);
}

static void advance(struct lm_sim *sim, int64_t to)
{
    while (sim->step < to)
        ck_assert_msg(!lm_sim_check(sim) && !lm_sim_step(sim), "%s", lm_error());
}

static int has_values(struct lm_sim *sim, int array)
{
    double *a = malloc(sim->grid.size * sizeof *a);
    int any = 0;
    ck_assert_int_eq(sim->backend->ops->get(sim->backend, (enum lm_array)array, a), LM_OK);
    for (size_t k = 0; k < sim->grid.size; k++)
        any |= a[k] != 0;
    free(a);
    return any;
}

/* A restarted run has the bits of a run without a break, and its checkpoint has the right length: in the first CASES
 * without a void, in the others with one. */
START_TEST(goes_on_to_the_bit)
{
    const int *const fields = kinds[_i % CASES], hollow = _i >= CASES, is_periodic = _i % CASES == CASES - 1;
    struct lm_config *c = config_of(fields, hollow);
    struct lm_sim *whole, *part;
    ck_assert_msg(!lm_sim_create(c, &whole) && !lm_sim_start(whole), "%s", lm_error());
    advance(whole, 7);
    const struct lm_references references = {0};
    char path[LM_MAX_PATH];
    ck_assert_msg(!lm_sim_save(whole, &references, 0, path), "%s", lm_error());
    uint64_t here, stored, one, other;
    lm_sim_fingerprint(whole, &here);
    ck_assert_int_eq(lm_checkpoint_fingerprint(path, &stored), LM_OK);
    ck_assert(here == stored);
    struct lm_checkpoint head;
    ck_assert_msg(!lm_sim_create(c, &part) && !restore_checkpoint(part, path, &head), "%s", lm_error());
    int strips = 0;
    for (int side = 0; side < LM_SIDES; side++)
        strips += fields[side] == LM_RADIATING;
    ck_assert_int_eq(head.field_count, is_periodic ? LM_STATE_FIELDS : LM_STATE_FIELDS + strips + 6);
    ck_assert_int_eq(head.bordered, is_periodic ? 0 : 6);
    ck_assert(hollow == (whole->control.voids > 0) && hollow == has_values(whole, LM_VOID_E + 1) &&
              hollow == has_values(whole, LM_VOID));
    const int64_t last = hollow ? 12 : 20; /* later a few ions reach the sides, which radiating ones do not bear */
    advance(whole, last);
    advance(part, last);
    lm_sim_fingerprint(whole, &one);
    lm_sim_fingerprint(part, &other);
    ck_assert(one == other && one != here);
    struct lm_totals totals;
    ck_assert_int_eq(lm_sim_totals(part, &totals), LM_OK);
    ck_assert_double_lt(totals.div_b, 1e-13);
    lm_sim_destroy(&part);
    lm_sim_destroy(&whole);
    config_free(c);
}
END_TEST

/* A checkpoint of a run with other sides is refused. */
START_TEST(other_sides_are_refused)
{
    struct lm_config *c = config_of(kinds[0], 0), *periodic = config_of(kinds[CASES - 1], 0);
    struct lm_sim *sim, *other;
    const struct lm_references references = {0};
    char path[LM_MAX_PATH];
    struct lm_checkpoint head;
    ck_assert_msg(!lm_sim_create(c, &sim) && !lm_sim_start(sim), "%s", lm_error());
    ck_assert_msg(!lm_sim_save(sim, &references, 0, path), "%s", lm_error());
    ck_assert_int_eq(lm_sim_create(periodic, &other), LM_OK);
    ck_assert_int_eq(restore_checkpoint(other, path, &head), LM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(lm_error(), "[boundary]"));
    lm_sim_destroy(&sim);
    lm_sim_destroy(&other);
    config_free(c);
    config_free(periodic);
}
END_TEST

/* The resistivity of a layer grows with the square of the depth. Bodies have their own resistivity. */
START_TEST(resistivity)
{
    struct lm_config *c = config_of(kinds[0], 0);
    const struct lm_grid g = lm_config_grid(c);
    uint8_t mask[20 * 12] = {0};
    mask[5 * 20 + 8] = 1, mask[5 * 20 + 9] = 2, mask[5 * 20 + 10] = 3;
    c->layer[LM_X_MAX] = 2, c->layer[LM_Y_MIN] = 1, c->layer_eta = 0.5;
    c->body_count = 3;
    c->body[0].fields = LM_BODY_CONDUCTING;
    c->body[1].fields = LM_BODY_RESISTIVE;
    snprintf(c->body[1].resistivity, sizeof c->body[1].resistivity, "7 + x");
    c->body[2].fields = LM_BODY_TRANSPARENT;
    double *eta = malloc(g.size * sizeof *eta);
    ck_assert_int_eq(lm_setup_eta(c, mask, eta), LM_OK);
    for (int j = -LM_GHOST; j < g.ny + LM_GHOST; j++)
        for (int i = -LM_GHOST; i < g.nx + LM_GHOST; i++) {
            double x = (i + 0.5) * 0.5, y = (j + 0.5) * 0.5;
            double dx = fmin(fmax((x - 8) / 2, 0), 1), dy = fmin(fmax(1 - y, 0), 1), deep = fmax(dx, dy);
            double want = 0.01 + 0.001 * x + 0.5 * deep * deep;
            if (j == 5 && i >= 8 && i <= 10)
                want = i == 8 ? 0 : i == 9 ? 7 + x : 20 / (4 * (4 + 4) * 0.02);
            ck_assert_double_eq_tol(eta[lm_at(&g, i, j)], want, 1e-12);
        }
    free(eta);
    c->body_count = 0;
    config_free(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runs with walls in the fields");
    TCase *t = tcase_create("walls");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, goes_on_to_the_bit, 0, 2 * CASES);
    tcase_add_test(t, other_sides_are_refused);
    tcase_add_test(t, resistivity);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
