/* The generator of random configurations, its comparator and its shrinker (tests/random). */
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "random/compare_run.h"
#include "random/draw.h"
#include "random/files.h"
#include "random/shrink.h"
#include "random/workers.h"
#include "inside.h"
#include "scratch.h"
#include "suite.h"

enum { DRAWN = 300 };

/* --- the generator --- */

/* Whether the configuration can be read and its files written. */
static int is_valid(const struct draft *d, struct lm_config *config)
{
    static char text[DRAFT_TEXT];
    draft_text(d, text);
    ck_assert(files_write(d, scratch));
    const int status = lm_config_read_text(scratch_path("case.ini"), text, 0, NULL, config);
    ck_assert_msg(status != LM_FAILED, "%s", lm_error());
    lm_config_free(config);
    return !status;
}

/* Counts the values that are drawn for a key; two different ones are enough. */
struct seen {
    char value[DRAFT_VALUE];
    int values; /* 0, 1, or 2 for two and more */
};

static void count_value(struct seen *seen, const char *value)
{
    if (seen->values == 0)
        snprintf(seen->value, sizeof seen->value, "%s", value);
    else if (strcmp(seen->value, value) != 0)
        seen->values = 2;
    seen->values = seen->values > 1 ? 2 : 1;
}

static void count_all_values(struct seen *seen, const struct draft *d)
{
    for (int k = 0; k < d->count; k++) {
        const struct draft_entry *e = &d->entry[k];
        const struct lm_named *kind = lm_named_of(e->section);
        const int key = lm_keys_find(kind ? kind->section : e->section, e->key);
        ck_assert(key >= 0 || !e->key[0] || !strcmp(e->section, "const"));
        if (key >= 0)
            count_value(&seen[key], e->value);
    }
}

/* Every key of the table must be drawn, also a new one. */
START_TEST(every_key_is_drawn)
{
    static struct seen seen[LM_MAX_KEYS];
    static struct draft d;
    struct lm_config *config = calloc(1, sizeof *config);
    int refused = 0;
    scratch_make();
    for (int index = 0; index < DRAWN; index++) {
        draw_case(1, index, 0, &d);
        if (is_valid(&d, config))
            count_all_values(seen, &d);
        else
            refused++;
    }
    for (int k = 0; k < lm_key_count; k++) {
        const struct draw_rule *rule = draw_rule_of(&lm_keys[k]);
        if (rule && rule->never)
            ck_assert_msg(strlen(rule->never) > 10, "%s.%s: no reason", lm_keys[k].section, lm_keys[k].name);
        else
            ck_assert_msg(seen[k].values == 2,
                          "%s.%s is drawn with %d values in %d configurations: give it a rule in tests/random/rules*.c",
                          lm_keys[k].section, lm_keys[k].name, seen[k].values, DRAWN);
    }
    ck_assert_msg(4 * refused < DRAWN, "%d of %d are refused", refused, DRAWN);
    free(config);
    scratch_remove();
}
END_TEST

/* Every rule must belong to a key of the table. */
START_TEST(every_rule_has_its_key)
{
    for (int k = 0; k < draw_rule_count + draw_output_rule_count; k++) {
        const struct draw_rule *rule = k < draw_rule_count ? &draw_rules[k] : &draw_output_rules[k - draw_rule_count];
        ck_assert_msg(lm_keys_find(rule->section, rule->key) >= 0, "%s.%s is not in the table", rule->section,
                      rule->key);
    }
}
END_TEST

START_TEST(a_seed_gives_the_same_again)
{
    static struct draft a, b;
    static char one[DRAFT_TEXT], two[DRAFT_TEXT];
    for (int index = 0; index < 20; index++) {
        draw_case(7, index, 3, &a);
        draw_case(7, index, 3, &b);
        draft_text(&a, one);
        draft_text(&b, two);
        ck_assert_str_eq(one, two);
        draw_case(8, index, 3, &b);
        draft_text(&b, two);
        ck_assert_str_ne(one, two);
        ck_assert(draft_read(&b, one));
        draft_text(&b, two);
        ck_assert_str_eq(one, two);
    }
}
END_TEST

/* --- the shrinker --- */

static const char large[] = "[run]\nt_end = 1.2\ndt = 0.1\nseed = 99\n"
                            "[grid]\nnx = 40\nny = 31\nlx = 20\nly = 15.5\n"
                            "[fields]\nbx = 0.3+0.1*cos(2*pi*x/lx)\neta = 0.01\n"
                            "[boundary]\nlayer_x_min = 1.5\nx_min = thermal\nlayer_eta = 0.2\n"
                            "[species.s0]\nparticles_per_cell = 17\ngas = b1\n"
                            "[background.b0]\ninitial = 1\n[background.b1]\nkind = neutral_gas\ninitial = 2\n"
                            "[body.b0]\nshape = mask\nfile = mask_40x31_2.pgm\n";

static double value_of(const struct draft *d, const char *section, const char *key)
{
    const char *text = draft_get(d, section, key);
    return text ? strtod(text, NULL) : -1;
}

/* The failure needs a body, a wall, 3 steps, 5 x 1 cells and eta. A layer and its resistivity can only be removed
 * together, and so can a gas and the keys that name it. */
static int shows(void *context, const struct draft *d)
{
    ++*(int *)context;
    const int layer = draft_get(d, "boundary", "layer_x_min") != NULL;
    if (layer != (draft_get(d, "boundary", "layer_eta") != NULL))
        return 0;
    if ((draft_get(d, "species.s0", "gas") != NULL) != (draft_get(d, "background.b1", "kind") != NULL))
        return 0;
    return value_of(d, "run", "steps") >= 3 && value_of(d, "run", "dt") > 0 && value_of(d, "grid", "nx") >= 5 &&
           value_of(d, "grid", "ny") >= 1 && value_of(d, "grid", "lx") > 0 && value_of(d, "grid", "ly") > 0 &&
           value_of(d, "fields", "eta") > 0 && value_of(d, "species.s0", "particles_per_cell") >= 2 &&
           draft_get(d, "body.b0", "shape") && draft_get(d, "boundary", "x_min");
}

/* The shrinker first tries steps in place of t_end, so t_end alone must not show the failure. */
START_TEST(what_is_left_is_what_is_needed)
{
    static struct draft d;
    static char text[DRAFT_TEXT];
    int asked = 0;
    ck_assert(draft_read(&d, large));
    ck_assert_int_eq(shrink(&d, shows, &asked, 2000), asked);
    draft_text(&d, text);
    ck_assert_str_eq(text, "[run]\ndt = 1\nsteps = 3\n"
                           "[grid]\nnx = 5\nny = 1\nlx = 2.5\nly = 0.5\n"
                           "[fields]\neta = 1\n[boundary]\nx_min = 0\n"
                           "[species.s0]\nparticles_per_cell = 2\n"
                           "[body.b0]\nshape = 0\n");
}
END_TEST

START_TEST(it_gives_up_in_time)
{
    static struct draft d;
    int asked = 0;
    ck_assert(draft_read(&d, large));
    ck_assert_int_eq(shrink(&d, shows, &asked, 7), 7);
    ck_assert_int_eq(asked, 7);
    ck_assert(shows(&asked, &d));
}
END_TEST

/* --- the comparator --- */

static const char plain[] = "[run]\nsteps = 6\ndt = 0.02\n[grid]\nnx = 12\nny = 7\nlx = 6\nly = 3.5\n"
                            "[fields]\nbz = 1\n[boundary]\nx_min = inflow\nx_max = absorbing\n"
                            "[species.s0]\nparticles_per_cell = 5\ntemperature = 0.2\ndrift_x = 1\n"
                            "[background.b0]\ninitial = 1 + 0.5*sin(2*pi*y/ly)\nvx = 1\ninflow = 1\n"
                            "[output]\nseries_every = 2\n";

START_TEST(all_ways_are_alike)
{
    static struct draft d;
    struct compare_result r;
    scratch_make();
    ck_assert(draft_read(&d, plain));
    compare_draft(&d, scratch, "cpu", 0, &r);
    ck_assert_msg(r.verdict == COMPARE_SAME, "%s: %s", r.way, r.what);
    ck_assert_int_eq(r.way_count, 10);
    ck_assert_int_eq(r.steps, 6);
    draft_set(&d, "species.s0", "drift_x", "1e6");
    compare_draft(&d, scratch, "cpu", 0, &r);
    ck_assert_int_eq(r.verdict, COMPARE_REFUSED);
    ck_assert_ptr_nonnull(strstr(r.what, "cannot be taken"));
    scratch_remove();
}
END_TEST

/* A simulation of `plain` after two steps. */
static struct lm_sim *stepped(struct lm_config *config)
{
    struct lm_sim *sim;
    ck_assert_msg(!lm_config_read_text("plain.ini", plain, 0, NULL, config), "%s", lm_error());
    config->run.backend = LM_BACKEND_CPU;
    ck_assert(!lm_sim_create(config, &sim) && !lm_sim_start(sim));
    for (int k = 0; k < 2; k++)
        ck_assert(!lm_sim_check(sim) && !lm_sim_step(sim));
    return sim;
}

/* Changes the last bit of one value in one cell. */
static void spoil(struct lm_sim *sim, int array, int i, int j)
{
    double *a = malloc(sim->grid.size * sizeof *a);
    ck_assert(!sim->backend->ops->get(sim->backend, array, a));
    double *value = &a[lm_at(&sim->grid, i, j)];
    *value = nextafter(*value, 9);
    ck_assert(!sim->backend->ops->put(sim->backend, array, a));
    free(a);
}

START_TEST(one_bit_is_seen)
{
    struct lm_config *config[2] = {calloc(1, sizeof **config), calloc(1, sizeof **config)};
    struct lm_sim *a = stepped(config[0]), *b = stepped(config[1]);
    struct compare_trace t = {.sim = a, .steps = 2};
    struct compare_result r = {.step = -1};
    compare_states(a, b, &r);
    ck_assert_ptr_nonnull(strstr(r.what, "no array of the state"));
    ck_assert_ptr_null(strstr(r.what, "particles"));
    ck_assert_int_eq(compare_ends(&t, b, &r), 0);
    spoil(b, LM_B + 2, 4, 6);
    compare_states(a, b, &r);
    ck_assert_ptr_nonnull(strstr(r.what, "B_z: 1 cells, the first (4, 6)"));
    spoil(b, LM_E + 1, 0, 3);
    ck_assert_int_eq(compare_ends(&t, b, &r), 1);
    ck_assert_ptr_nonnull(strstr(r.what, "E_y: 1 cells, the first (0, 3)"));
    b->ledger[0].lost[LM_X_MAX].v2++;
    ck_assert_int_eq(compare_ends(&t, b, &r), 1);
    ck_assert_ptr_nonnull(strstr(r.what, "the ledgers of species s0 differ"));
    lm_sim_destroy(&a);
    lm_sim_destroy(&b);
    for (int k = 0; k < 2; k++) {
        lm_config_free(config[k]);
        free(config[k]);
    }
}
END_TEST

START_TEST(one_digit_of_a_row_is_seen)
{
    struct lm_series_column columns[3] = {{.name = "step"}, {.name = "energy"}, {.name = "rate"}};
    double rows[] = {0, 1, 7, 1, 2, 7}, same[] = {1, 2, 9}, other[] = {1, 2 + 0x1p-51, 7};
    const struct compare_trace t = {.columns = columns, .column_count = 3, .rows = rows, .steps = 1};
    struct compare_result r = {.step = -1};
    ck_assert_int_eq(compare_rows(&t, 1, same, &r), 0);
    ck_assert_int_eq(compare_rows(&t, 1, other, &r), 1);
    ck_assert_int_eq(r.step, 1);
    ck_assert_ptr_nonnull(strstr(r.what, "energy"));
}
END_TEST

/* --- processes --- */

static void crash_or_hang(void *context, int index, struct worker_report *report)
{
    (void)context;
    if (index == 2)
        raise(SIGKILL);
    if (index == 5)
        pause();
    report->differs = index == 6;
    report->ways = 1;
}

static void record_crash(void *context, int index, const char *how)
{
    char *said = context;
    const size_t n = strlen(said);
    snprintf(said + n, 256 - n, "%d %s; ", index, how);
}

START_TEST(crashes_and_hangs_are_cases_that_fail)
{
    char said[256] = "";
    const struct worker_task task = {.first = 1,
                                     .count = 8,
                                     .jobs = 2,
                                     .seconds_each = 1,
                                     .run = crash_or_hang,
                                     .crashed = record_crash,
                                     .context = said};
    struct worker_total total;
    ck_assert_int_eq(workers_run(&task, &total), LM_OK);
    ck_assert_int_eq(total.cases, 8);
    ck_assert_int_eq(total.crashed, 2);
    ck_assert_int_eq(total.different, 1);
    ck_assert_int_eq(total.ways, 6);
    ck_assert_ptr_nonnull(strstr(said, "2 crashed: Killed"));
    ck_assert_ptr_nonnull(strstr(said, "5 took longer than 1 s"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random");
    TCase *cases = tcase_create("random");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, every_key_is_drawn);
    tcase_add_test(cases, every_rule_has_its_key);
    tcase_add_test(cases, a_seed_gives_the_same_again);
    tcase_add_test(cases, what_is_left_is_what_is_needed);
    tcase_add_test(cases, it_gives_up_in_time);
    tcase_add_test(cases, all_ways_are_alike);
    tcase_add_test(cases, one_bit_is_seen);
    tcase_add_test(cases, one_digit_of_a_row_is_seen);
    tcase_add_test(cases, crashes_and_hangs_are_cases_that_fail);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
