/* A configuration that has been written is read as the same configuration. */
#include <check.h>
#include <string.h>

#include "larmor/base.h"
#include "config_file.h"
#include "suite.h"

START_TEST(test_round_trip)
{
    assert_reads("");
    assert_round_trip();
    assert_reads("charge = 2\nmass = 4.1000000000000005\nparticles_per_cell = 0.30000000000000004\nstart = quiet\n"
                 "density = 1+0.1*cos(k*x)\ndrift_z = y\ntemperature_par = 0.1\ntemperature_perp = k\n"
                 "[species.q]\ntemperature_y = 2\n[species.r]\ntemperature = x*y\n"
                 "[const]\nk2 = k*k\nk = 2*pi/lx\n[functions]\nf = g(x, k)*t\ng(u, v) = u/v\n[run]\nseed = "
                 "18446744073709551615\ntile = 16\nthreads = 3\n"
                 "sort_every = 123456789012\nbackend = cuda\n[electrons]\nclosure = polytropic\ntemperature = 0.1\n"
                 "[fields]\nsolver = none\nex = 1\ney = x\nez = k2\nbx = 1\nby = 2\nbz = 3\naz = 4\neta = x\n"
                 "eta_hyper = 1e-300\ndensity_floor = 1.7976931348623157e308\nsmoothing = 0\n"
                 "electron_friction = off\nmin_substeps = 4\nmax_substeps = 5\n[particles]\nshape = "
                 "quadratic\nprecision = single\n"
                 "[units]\nb0 = 1e-9\nn0 = 1e7\n[output]\ndirectory = a b/c\nseries_every = 0\nfields_every = 7\n"
                 "particles_every = 8\ncheckpoint_every = 9\nkeep = 10\nparticles_fraction = 0.1\ncompress = 9\n"
                 "wall_limit = 100:59:59\n");
    ck_assert_int_eq(config.species_count, 3);
    assert_round_trip();
    ck_assert_double_eq(config.electrons.gamma, 5.0 / 3.0);
    static const char *const overrides[] = {"run.steps=123456789", "run.dt=0.0030000000000000001"};
    put_after_head("");
    ck_assert_int_eq(read_again(2, overrides), LM_OK);
    assert_round_trip();
    ck_assert_int_eq(config.run.steps, 123456789);
}
END_TEST

/* The longest values that a file can hold also fit into the echo. */
START_TEST(test_round_trip_of_long_values)
{
    enum { LONGEST = LM_MAX_TEXT - 1 };
    char text[2 * LM_MAX_TEXT + 64] = "[fields]\nbx=";
    for (int k = 0; k < LONGEST; k++)
        strcat(text, k % 2 ? (k % 14 == 1 ? " " : "+") : "3");
    strcat(text, "\nby = ");
    memset(text + strlen(text), '0', 200);
    strcat(text, "\n");
    for (int k = 0; k < 100; k++)
        strcat(text, "  + 12\n");
    for (char *blank = strchr(text, ' '); blank && blank[-1] != 'y'; blank = strchr(blank + 1, ' '))
        *blank = '-';
    assert_reads(text);
    assert_round_trip();
    ck_assert_uint_eq(strlen(config.fields.b[0]), LONGEST);
    ck_assert_uint_eq(strlen(config.fields.b[1]), 200 + 100 * 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config, round trip");
    TCase *tc = tcase_create("config, round trip");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_round_trip);
    tcase_add_test(tc, test_round_trip_of_long_values);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
