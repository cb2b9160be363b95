/* What the library leaves to the program that calls it: its locale, and what HDF5 does with errors. */
#include <hdf5.h>
#include <locale.h>

#include "cli.h"
#include "library_case.h"

/* A locale that writes 0,5 for 0.5: an installed one, or one that is made here. 0: there is none. */
static int set_comma_locale(void)
{
    static char command[LM_MAX_PATH + 64];
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return 1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s 2>&1", scratch_path("de_DE.UTF-8"));
    FILE *made = popen(command, "r");
    while (made && fgetc(made) != EOF) /* localedef explains why it cannot make one */
        ;
    if (made)
        pclose(made);
    setenv("LOCPATH", scratch, 1);
    const int found = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH"); /* the C library leaks memory where it reads LOCPATH, also in the programs that tests run */
    return found;
}

/* The locale of the caller is in force. */
static void check_comma(void)
{
    char half[8];
    snprintf(half, sizeof half, "%.1f", 0.5);
    ck_assert_str_eq(half, "0,5");
}

/* Settings, state, checkpoints and messages do not depend on the caller's locale, which stays as it is. */
START_TEST(comma_locale)
{
    char settings[16384], gas[2048];
    const char *const colder = "electrons.temperature=0.25";
    simulation *sim = small("u", colder);
    snprintf(settings, sizeof settings, "%s", larmor_settings(sim));
    larmor_close(sim);
    snprintf(gas, sizeof gas, "%s[background.gas]\ninitial = 1\nvx = 0.1\nsource = exp(1000*t)\n", cli_small);
    make_file("gas.ini", gas);
    CLI(0, "run small.ini --quiet --output whole output.checkpoint_every=10 output.keep=100 %s", colder);
    if (!set_comma_locale()) {
        printf("library: comma_locale is left out: no locale de_DE.UTF-8 is here, and localedef makes none\n");
        return;
    }
    sim = small("u", colder);
    check_comma();
    ck_assert_str_eq(larmor_settings(sim), settings);
    GOOD(larmor_begin(sim));
    GOOD(larmor_step(sim, 7));
    GOOD(larmor_save(sim, NULL));
    larmor_close(sim);
    CLI(0, "run small.ini --quiet --output u --restart latest %s", colder);
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("whole"));
    sim = small("whole", colder);
    GOOD(larmor_restart(sim, scratch_path("whole/checkpoints/checkpoint_00000010.h5")));
    GOOD(larmor_step(sim, 30));
    ck_assert_str_eq(print_of(sim), cli_fingerprint("whole"));
    larmor_close(sim);
    sim = opened(scratch_path("gas.ini"), 0, NULL);
    GOOD(larmor_begin(sim));
    WRONG(LARMOR_FAILED, "step 18 (from t = 0.34) cannot be taken", larmor_step(sim, 40));
    larmor_close(sim);
    check_comma();
}
END_TEST

/* A handler of errors for HDF5, by which the caller would notice them. */
static herr_t notice(hid_t stack, void *count)
{
    (void)stack;
    ++*(int *)count;
    return 0;
}

/* HDF5 calls the handler of the caller for an error of the caller, and for no other one. */
static void check_handler(int *count)
{
    ck_assert_int_eq(*count, 0);
    ck_assert_int_lt(H5Dopen2(-1, "absent", H5P_DEFAULT), 0);
    ck_assert_int_eq(*count, 1);
    *count = 0;
}

START_TEST(errors_of_hdf5)
{
    int count = 0;
    H5Eset_auto2(H5E_DEFAULT, notice, &count);
    make_file("bad.h5", "\211HDF\r\n\032\n and no more");
    simulation *sim = small("u", NULL);
    check_handler(&count);
    GOOD(larmor_restart(sim, "latest"));
    check_handler(&count);
    GOOD(larmor_step(sim, 1));
    GOOD(larmor_save(sim, NULL));
    check_handler(&count);
    larmor_close(sim);
    sim = small("u", NULL);
    WRONG(LARMOR_BAD_INPUT, "bad.h5", larmor_restart(sim, scratch_path("bad.h5")));
    check_handler(&count);
    larmor_close(sim);
    sim = begun("u", NULL);
    check_handler(&count);
    larmor_close(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("library_host");
    TCase *t = tcase_create("host");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_add_test(t, comma_locale);
    tcase_add_test(t, errors_of_hdf5);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
