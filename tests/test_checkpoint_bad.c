/* Wrong checkpoints: every class of wrong head or state is refused with a message, and never crashes the reader. */
#include <check.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"
#include "base/checksum.h"
#include "checkpoint_state.h"
#include "suite.h"

/* All three readers refuse the file with a message that names it and contains `why`. */
static void assert_bad(const char *file, const char *why)
{
    struct lm_checkpoint head;
    struct state *s = make_state(LM_DOUBLE, 10);
    uint64_t fingerprint;
    ck_assert_int_eq(read_file(file, s), LM_BAD_INPUT);
    assert_error_has(file);
    assert_error_has(why);
    ck_assert_int_eq(lm_checkpoint_fingerprint(file, &fingerprint), LM_BAD_INPUT);
    assert_error_has(why);
    if (lm_checkpoint_head(file, &head) != LM_OK)
        assert_error_has(why);
    free_state(s);
}

START_TEST(what_is_no_checkpoint_is_refused)
{
    FILE *nowhere = fopen("/dev/null", "w");
    write_small(1, 1);
    make_file("text", "[run]\ndt = 0.1\n");
    make_file("empty", "");
    hid_t foreign = H5Fcreate(scratch_path("foreign.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(foreign);
    assert_bad(scratch_path("absent.h5"), "no such file");
    assert_bad(scratch_path("checkpoints"), "is a directory");
    assert_bad(scratch_path("text"), "is not an HDF5 file");
    assert_bad(scratch_path("empty"), "is empty");
    assert_bad(scratch_path("foreign.h5"), "is not a checkpoint of this program");
    assert_bad("/dev/null", "is not a regular file");
    ck_assert_int_eq(lm_info_print(scratch_path("foreign.h5"), nowhere), LM_BAD_INPUT);
    ck_assert_int_eq(lm_info_print(scratch_path("text"), nowhere), LM_BAD_INPUT);
    ck_assert_int_eq(lm_info_print(scratch_path("absent.h5"), nowhere), LM_BAD_INPUT);
    fclose(nowhere);
}
END_TEST

START_TEST(a_truncated_file_is_refused_at_any_length)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    write_small(1, 1);
    FILE *in = fopen(path, "r");
    char *bytes = malloc(1 << 20);
    size_t size = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    ck_assert_uint_gt(size, 2000);
    const char *cut = scratch_path("cut.h5");
    for (size_t length = 0; length < size; length += 1 + length / 200) {
        FILE *out = fopen(cut, "w");
        fwrite(bytes, 1, length, out);
        fclose(out);
        ck_assert_msg(read_file(cut, s) == LM_BAD_INPUT, "cut to %zu of %zu bytes", length, size);
    }
    free(bytes);
    free_state(s);
}
END_TEST

/* Functions that make a file wrong in a certain way. Each case names the words that the message must contain. */
static void put_attribute(hid_t file, const char *object, const char *name, hid_t type, const void *value)
{
    H5Adelete_by_name(file, object, name, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t a = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(a, type, value), 0);
    H5Aclose(a);
    H5Sclose(space);
}

static void put_whole(hid_t file, const char *object, const char *name, int64_t value)
{
    put_attribute(file, object, name, H5T_NATIVE_INT64, &value);
}

static void put_real(hid_t file, const char *object, const char *name, double value)
{
    put_attribute(file, object, name, H5T_NATIVE_DOUBLE, &value);
}

static void put_dataset(hid_t file, const char *name, hid_t type, int rank, hsize_t rows, hsize_t columns)
{
    const hsize_t dims[2] = {rows, columns};
    H5Ldelete(file, name, H5P_DEFAULT);
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(data, 0);
    H5Dclose(data);
    H5Sclose(space);
}

static void put_value(hid_t file, const char *name, hid_t type, hsize_t row, hsize_t column, int rank,
                      const void *value)
{
    const hsize_t at[2] = {row, column}, one = 1;
    hid_t data = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(data);
    hid_t memory = H5Screate_simple(1, &one, NULL);
    ck_assert_int_eq(H5Sget_simple_extent_ndims(space), rank);
    H5Sselect_elements(space, H5S_SELECT_SET, 1, at);
    ck_assert_int_ge(H5Dwrite(data, type, memory, space, H5P_DEFAULT, value), 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(data);
}

static void put_position(hid_t file, const char *name, int64_t value)
{
    put_value(file, name, H5T_NATIVE_INT64, 9, 0, 1, &value);
}

static void put_velocity(hid_t file, const char *name, double value)
{
    put_value(file, name, H5T_NATIVE_DOUBLE, 9, 0, 1, &value);
}

/* Changes one value of an array. */
static void put_element(hid_t file, const char *object, const char *name, int at, int64_t value)
{
    int64_t all[256];
    hid_t old = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(old), space = H5Aget_space(old);
    ck_assert_int_ge(H5Aread(old, type, all), 0);
    all[at] = value;
    H5Aclose(old);
    H5Adelete_by_name(file, object, name, H5P_DEFAULT);
    hid_t new = H5Acreate_by_name(file, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(new, type, all), 0);
    H5Aclose(new);
    H5Sclose(space);
    H5Tclose(type);
}

/* Makes the ledger inconsistent: in every channel a number that is one off, sums without particles, and a negative
 * energy. */
static const char *spoil_ledger(hid_t f, int n)
{
    const char *protons = "/species/protons", *open = "species protons: its ledger does not close";
    if (n < LM_ENTRANCES)
        return put_element(f, protons, "injected", n, n == LM_X_MIN ? 19 : 1), open;
    n -= LM_ENTRANCES;
    if (n < LM_CHANNELS)
        return put_element(f, protons, "lost", n, 2), open;
    switch (n - LM_CHANNELS) {
    case 0:
        return put_element(f, protons, "lost_low", 4 * LM_THETA_BOUNDARY, 1), open;
    case 1:
        return put_element(f, protons, "injected_high", 4 * LM_Y_MAX + 3, 1), open;
    case 2:
        return put_element(f, protons, "lost_high", 4 * LM_X_MAX + 3, -1), open;
    case 3: /* adds up modulo 2^64 only */
        put_element(f, protons, "lost", LM_Y_MIN, INT64_MIN);
        return put_element(f, protons, "lost", LM_Y_MAX, INT64_MIN), open;
    case 4:
        return H5Adelete_by_name(f, protons, "lost_low", H5P_DEFAULT), "/species/protons/lost_low is missing";
    case 5:
        return put_whole(f, protons, "lost", 1), "/species/protons/lost has a wrong type or length";
    case 6:
        return H5Ldelete(f, "surfaces", H5P_DEFAULT), "the group surfaces is missing";
    case 7:
        return put_whole(f, "/surfaces", "body_count", LM_MAX_BODIES + 1), "the attribute body_count is 9";
    case 8:
        return put_whole(f, "/surfaces", "map_angles", 1 << 20), "the attribute map_angles is 1048576";
    }
    return NULL;
}

/* Makes the file wrong in way `n`. Returns what the message must contain, or NULL when there is no such way. */
static const char *spoil_head(hid_t f, int n)
{
    const char *root = "/", *protons = "/species/protons";
    const double array[2] = {0.1, 0.1};
    switch (n) {
    case 0:
        return put_whole(f, root, "format_version", 3), "has checkpoint format 3, this program reads 8";
    case 1:
        return H5Adelete(f, "step"), "the attribute step is missing";
    case 2:
        return put_whole(f, root, "step", -1), "step is negative";
    case 3:
        return put_real(f, root, "step", 1.0), "the attribute step has a wrong type";
    case 4:
        return put_whole(f, root, "nx", 0), "the attribute nx is 0";
    case 5:
        return put_whole(f, root, "ny", (int64_t)1 << 40), "the attribute ny is";
    case 6:
        return put_real(f, root, "dt", NAN), "the attribute dt is nan";
    case 7:
        return put_real(f, root, "lx", -1.0), "the attribute lx is -1";
    case 8:
        return put_whole(f, root, "precision", 33), "precision 33";
    case 9:
        return put_whole(f, root, "fraction_bits", 24), "precision 64 with 24 fraction bits";
    case 10:
        return put_whole(f, root, "species_count", 17), "the attribute species_count is 17";
    case 11:
        return put_whole(f, root, "species_count", 2), "species_names has a wrong type or length";
    case 12:
        return put_whole(f, root, "field_count", -5), "the attribute field_count is -5";
    case 13:
        return H5Adelete(f, "momentum_start"), "momentum_start is missing";
    case 14:
        return put_real(f, root, "momentum_start", 0.0), "momentum_start has a wrong type or length";
    case 15:
        return put_real(f, protons, "weight", INFINITY), "the attribute weight is inf";
    case 16:
        return put_real(f, protons, "mass", 0.0), "the attribute mass is 0";
    case 17:
        return H5Adelete_by_name(f, protons, "charge", H5P_DEFAULT), "/species/protons/charge is missing";
    case 18:
        put_whole(f, protons, "count", 11);
        return "/species/protons/x has a wrong shape";
    case 19:
        return H5Adelete(f, "format"), "is not a checkpoint of this program";
    case 20:
        return put_attribute(f, root, "format", H5T_NATIVE_DOUBLE, array), "format has a wrong type";
    case 21:
        return put_whole(f, protons, "loaded", 5), "species protons: its ledger does not close";
    case 22:
        return put_whole(f, root, "format_version", 9), "has checkpoint format 9, this program reads 8";
    case 23:
        return put_real(f, root, "time", nextafter(0.1, 1)), "which is not 1 steps of dt = 0.1";
    case 24:
        return put_whole(f, root, "step", 2), "which is not 2 steps of dt = 0.1";
    }
    return spoil_ledger(f, n - 25);
}

static const char *spoil_state(hid_t f, int n)
{
    const int64_t end_x = (int64_t)NX << 48, end_y = (int64_t)NY << 48;
    const double nan = NAN;
    switch (n) {
    case 0:
        return H5Ldelete(f, "fields", H5P_DEFAULT), "the group fields is missing";
    case 1:
        return H5Ldelete(f, "fields/ez", H5P_DEFAULT), "/fields/ez is missing";
    case 2:
        return put_dataset(f, "fields/ez", H5T_NATIVE_DOUBLE, 2, NX, NY), "/fields/ez has a wrong shape";
    case 3:
        return put_dataset(f, "fields/ez", H5T_NATIVE_DOUBLE, 1, NX * NY, 0), "/fields/ez has a wrong shape";
    case 4:
        return put_dataset(f, "fields/ez", H5T_NATIVE_FLOAT, 2, NY, NX), "/fields/ez has a wrong type";
    case 5:
        return put_value(f, "fields/ez", H5T_NATIVE_DOUBLE, 2, 5, 2, &nan), "ez is not finite in cell (5, 2)";
    case 6:
        return H5Ldelete(f, "species", H5P_DEFAULT), "the group species is missing";
    case 7:
        return H5Ldelete(f, "species/alphas", H5P_DEFAULT), "/species/alphas is missing";
    case 8:
        return H5Ldelete(f, "species/alphas/w", H5P_DEFAULT), "/species/alphas/w is missing";
    case 9:
        return put_dataset(f, "species/alphas/v", H5T_NATIVE_DOUBLE, 1, 6, 0), "alphas/v has a wrong shape";
    case 10:
        return put_dataset(f, "species/alphas/v", H5T_NATIVE_FLOAT, 1, 7, 0), "alphas/v has a wrong type";
    case 11:
        return put_dataset(f, "species/alphas/x", H5T_NATIVE_UINT64, 1, 7, 0), "alphas/x has a wrong type";
    case 12:
        return put_dataset(f, "species/alphas/x", H5T_NATIVE_INT32, 1, 7, 0), "alphas/x has a wrong type";
    case 13:
        return put_position(f, "species/protons/x", end_x), "'protons': particle 9 is outside of the domain";
    case 14:
        return put_position(f, "species/protons/y", end_y), "'protons': particle 9 is outside of the domain";
    case 15:
        return put_position(f, "species/protons/x", -1), "'protons': particle 9 is outside of the domain";
    case 16:
        return put_position(f, "species/protons/y", INT64_MIN), "'protons': particle 9 is outside of the domain";
    case 17:
        return put_velocity(f, "species/protons/u", NAN), "'protons': particle 9 has no finite velocity";
    case 18:
        return put_velocity(f, "species/protons/w", -INFINITY), "'protons': particle 9 has no finite velocity";
    case 19:
        return H5Ldelete(f, "species/alphas/hits", H5P_DEFAULT), "/species/alphas/hits is missing";
    case 20:
        return put_dataset(f, "species/alphas/hits", H5T_NATIVE_UINT64, 1, MAP + 1, 0), "hits has a wrong shape";
    }
    return NULL;
}

static void spoil_all(const char *(*spoil)(hid_t, int), int least)
{
    int n = 0;
    for (const char *why = ""; why; n++) {
        write_small(1, 1);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        why = spoil(file, n);
        H5Fclose(file);
        /* the checksum is renewed, so that the content must be found wrong */
        ck_assert_int_eq(lm_checksum_write(path), LM_OK);
        if (why)
            assert_bad(path, why);
    }
    ck_assert_int_ge(n, least);
}

START_TEST(a_wrong_head_is_refused)
{
    spoil_all(spoil_head, 25 + LM_ENTRANCES + LM_CHANNELS + 9);
}
END_TEST

START_TEST(a_wrong_state_is_refused)
{
    spoil_all(spoil_state, 21);
}
END_TEST

START_TEST(single_precision_is_checked_too)
{
    struct state *s = full_state(LM_SINGLE, 10);
    s->position[0][0][4] = (int64_t)NX << 24;
    write_state(s, 1, 1);
    assert_bad(path, "particle 4 is outside of the domain");
    s->position[0][0][4] = 0;
    set_velocity(s, 0, 1, 3, NAN);
    write_state(s, 1, 1);
    assert_bad(path, "particle 3 has no finite velocity");
    free_state(s);
}
END_TEST

START_TEST(other_fields_than_the_runs_are_refused)
{
    static const char *const names[FIELDS] = {"bx", "ez", "tracer"};
    struct lm_checkpoint head;
    struct state *s = make_state(LM_DOUBLE, 10);
    struct lm_checkpoint_io io = io_of(s);
    write_small(1, 1);
    lm_checkpoint_head(path, &head);
    head.field_names = names;
    ck_assert_int_eq(lm_checkpoint_read(path, &head, &io), LM_BAD_INPUT);
    assert_error_has("/fields/tracer is missing");
    head.field_count = 2; /* the file's third field would be lost */
    ck_assert_int_eq(lm_checkpoint_read(path, &head, &io), LM_BAD_INPUT);
    assert_error_has("holds 3 fields, this run has 2");
    free_state(s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wrong checkpoints");
    TCase *files = tcase_create("wrong checkpoints");
    tcase_set_timeout(files, 120);
    tcase_add_checked_fixture(files, scratch_make, scratch_remove);
    tcase_add_test(files, what_is_no_checkpoint_is_refused);
    tcase_add_test(files, a_truncated_file_is_refused_at_any_length);
    tcase_add_test(files, a_wrong_head_is_refused);
    tcase_add_test(files, a_wrong_state_is_refused);
    tcase_add_test(files, single_precision_is_checked_too);
    tcase_add_test(files, other_fields_than_the_runs_are_refused);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
