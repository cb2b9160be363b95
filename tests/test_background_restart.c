/* Restarts of runs with background fields: the same bits; other fields and damaged files are refused. */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "larmor/physics/fluid/advect.h"
#include "background_run.h"
#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"

/* A run that is interrupted after step _i and restarted has the state and the ledgers of a run without a break. */
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
    ck_assert_int_eq(head.field_count, LM_STATE_FIELDS + 3 + 6 + 1); /* the last: a strip */
    assert_ledgers(part);
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

/* In the first step the field grows 12-fold, beyond what its quantum can hold in the next step. The next step takes a
 * larger quantum, also after a restart. */
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
    assert_ledgers(part);
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

START_TEST(other_fields_are_refused)
{
    char path[LM_MAX_PATH];
    checkpoint_of(open_text, path);
    assert_refuses(path, text_with(open_text, "[background.dye]", "[background.ink]"),
                   "background field 1 is 'dye' there, kind tracer, and 'ink', kind tracer, in the run");
    assert_refuses(path, text_with(open_text, "kind = neutral_gas", "kind = tracer"),
                   "background field 2 is 'gas' there, kind neutral_gas, and 'gas', kind tracer, in the run");
    assert_refuses(
        path, text_with(open_text, "side_x_max = wall", "side_x_max = open"),
        "the background field heat has a wall at x_max there, and open in the run: set background.heat.side_x_max");
    assert_refuses(
        path, text_with(open_text, "[background.dye]", "[background.more]\ninitial = 1\ninflow = 1\n[background.dye]"),
        "a checkpoint with 3 background fields; the run has 4");
    char none[2048];
    snprintf(none, sizeof none, "%.*s", (int)(strstr(open_text, "[background.dye]") - open_text), open_text);
    assert_refuses(path, none, "a checkpoint with 3 background fields; the run has 0");
}
END_TEST

/* Changes a value and renews the checksum, so that the value itself must be found wrong. */
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
    damage_sum(path, "/backgrounds/heat", "loaded_low", 1); /* now the ledger closes, with another total */
    assert_refuses(path, open_text, "the background field heat is not what its ledger says");
    checkpoint_of(open_text, path);
    damage_sum(path, "/backgrounds/dye", "quantum", 1);
    assert_refuses(path, open_text, "background field dye: quanta of ");
    checkpoint_of(open_text, path);
    damage_sum(path, "/backgrounds", "count", 6);
    assert_refuses(path, open_text, "9 background fields; the file is damaged");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields, restarts");
    TCase *t = tcase_create("background fields, restarts");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, restarts, 0, 24);
    tcase_add_test(t, restarts_after_growth);
    tcase_add_test(t, other_fields_are_refused);
    tcase_add_test(t, damaged_files_are_refused);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
