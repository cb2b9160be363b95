/* Maps of hits: what hits the surfaces of an open system, where, at which angle and energy. */
#include <check.h>
#include <hdf5.h>
#include <stdio.h>

#include "cases.h"
#include "open_system.h"
#include "scratch.h"
#include "series_row.h"
#include "suite.h"

static double sum_of(hid_t file, const char *name)
{
    static double values[ROOM];
    double sum = 0;
    hsize_t n = read_dataset(file, name, H5T_NATIVE_DOUBLE, ROOM, values);
    for (hsize_t k = 0; k < n; k++)
        sum += values[k];
    return sum;
}

static hid_t open_maps(struct lm_sim *sim)
{
    char name[64];
    ck_assert_msg(!lm_output_maps(sim, sim->config), "%s", lm_error());
    snprintf(name, sizeof name, "maps/maps_%08d.h5", (int)sim->step);
    hid_t file = H5Fopen(scratch_path(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

START_TEST(maps_hold_all_that_was_lost)
{
    struct case_state s = case_open(&open_case, 2, one_thread, NULL);
    snprintf(s.config->output.directory, sizeof s.config->output.directory, "%s", scratch);
    s.config->output.compress = _i ? 6 : 0;
    case_advance(&open_case, &s, 60);
    hid_t file = open_maps(s.sim);
    static const char *const surfaces[3] = {"x_min", "x_max", "body_moon"};
    static const int channels[3] = {LM_X_MIN, LM_X_MAX, LM_SIDES};
    for (int k = 0; k < 2; k++) {
        char name[64];
        for (int n = 0; n < 3; n++) {
            snprintf(name, sizeof name, "%s/hits_%s", surfaces[n], s.config->species[k].name);
            ck_assert(sum_of(file, name) == (double)s.sim->ledger[k].lost[channels[n]].number);
        }
        snprintf(name, sizeof name, "body_warm/hits_%s", s.config->species[k].name);
        ck_assert(sum_of(file, name) > 100); /* re-emitted ones count too */
    }
    ck_assert_int_le(H5Lexists(file, "body_moon/hits_sun", H5P_DEFAULT), 0);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

/* Bins of a map of one species: 9 of 10 degrees, and 0, (0.1, 1), (1, 10), above. */
#define BINS "[output]\nmap_angles = 9\nmap_energies = 2\nmap_energy_min = 0.1\nmap_energy_max = 10\n"

enum { ANGLES = 9, ENERGIES = 4 };

/* The number of hits on a face. All of them must lie in one bin. */
static double hits_in(const double *map, hsize_t face, int angle, int energy)
{
    double sum = 0;
    const double *here = map + face * ANGLES * ENERGIES;
    for (int k = 0; k < ANGLES * ENERGIES; k++)
        sum += here[k];
    ck_assert_msg(here[angle * ENERGIES + energy] == sum, "face %d: %g hits, %g in the bin", (int)face, sum,
                  here[angle * ENERGIES + energy]);
    return sum;
}

/* tan = 0.4: 21.8 degrees from the normal of x, 68.2 from that of y; energy 3/2 (0.5625 + 0.09 + 0.01) = 0.99. */
START_TEST(a_beam_fills_one_bin_of_a_side)
{
    static double map[ROOM], x[ROOM], y[ROOM], normal[ROOM];
    struct case_state s = text_open(BEAM("5", "[boundary]\nx_min = absorbing\nx_max = absorbing\n" BINS));
    advance(&s, 100);
    hid_t file = open_maps(s.sim);
    ck_assert_uint_eq(read_dataset(file, "x_max/hits_p", H5T_NATIVE_DOUBLE, ROOM, map), 6 * ANGLES * ENERGIES);
    double sum = 0;
    for (hsize_t face = 0; face < 6; face++)
        sum += hits_in(map, face, 2, 1);
    ck_assert(sum == 5 * 48);
    ck_assert(sum_of(file, "x_min/hits_p") == 0);
    read_dataset(file, "x_max/x", H5T_NATIVE_DOUBLE, ROOM, x);
    read_dataset(file, "x_max/y", H5T_NATIVE_DOUBLE, ROOM, y);
    read_dataset(file, "x_max/normal_x", H5T_NATIVE_DOUBLE, ROOM, normal);
    for (int face = 0; face < 6; face++)
        ck_assert(x[face] == 2 && y[face] == 0.25 + 0.5 * face && normal[face] == -1);
    ck_assert_uint_eq(read_dataset(file, "angle_edges", H5T_NATIVE_DOUBLE, ROOM, x), 10);
    ck_assert(x[0] == 0 && x[2] == 20 && x[9] == 90);
    ck_assert_uint_eq(read_dataset(file, "energy_edges", H5T_NATIVE_DOUBLE, ROOM, x), 3);
    ck_assert_double_eq_tol(x[1], 1, 1e-12);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

/* The beam comes from the left and from above; cells are 1/4 x 1/2, the box has 3 x 2 of them. */
START_TEST(a_beam_fills_one_bin_of_each_face_of_a_box)
{
    static double map[ROOM], column[5][ROOM];
    static const char *const names[5] = {"x", "y", "normal_x", "normal_y", "length"};
    struct case_state s =
        text_open(BEAM("40", "[body.box]\nshape = box\nx = 1.125\ny = 1.5\nwidth = 0.75\nheight = 1\n" BINS));
    advance(&s, 60);
    hid_t file = open_maps(s.sim);
    ck_assert_uint_eq(read_dataset(file, "body_box/hits_p", H5T_NATIVE_DOUBLE, ROOM, map), 10 * ANGLES * ENERGIES);
    for (int k = 0; k < 5; k++) {
        char name[64];
        snprintf(name, sizeof name, "body_box/%s", names[k]);
        ck_assert_uint_eq(read_dataset(file, name, H5T_NATIVE_DOUBLE, ROOM, column[k]), 10);
    }
    double sum = 0;
    for (hsize_t face = 0; face < 10; face++) {
        const double px = column[0][face], py = column[1][face], nx = column[2][face], ny = column[3][face];
        const int left = nx == -1, top = ny == 1;
        ck_assert(nx * nx + ny * ny == 1 && column[4][face] == (nx != 0 ? 0.5 : 0.25));
        ck_assert(nx == 0 || (px == (nx > 0 ? 1.5 : 0.75) && (py == 1.25 || py == 1.75)));
        ck_assert(ny == 0 || (py == (ny > 0 ? 2 : 1) && (px == 0.875 || px == 1.125 || px == 1.375)));
        double hits = hits_in(map, face, left ? 2 : 6, 1);
        ck_assert_msg((hits > 0) == (left || top), "face at %g, %g: %g hits", px, py, hits);
        sum += hits;
    }
    ck_assert(sum == (double)s.sim->ledger[0].lost[LM_SIDES].number);
    H5Fclose(file);
    case_close(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("maps of hits");
    TCase *t = tcase_create("maps of hits");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, maps_hold_all_that_was_lost, 0, 2);
    tcase_add_test(t, a_beam_fills_one_bin_of_a_side);
    tcase_add_test(t, a_beam_fills_one_bin_of_each_face_of_a_box);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
