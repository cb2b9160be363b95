/* One mistake in a configuration gives one message, which says what to write instead. */
#include "config_file.h"
#include "suite.h"

/* Another text in place of a line of the head. */
static void put_in_place_of(const char *line, const char *instead)
{
    char all[2048];
    const char *at = strstr(head, line);
    ck_assert_ptr_nonnull(at);
    const int n = snprintf(all, sizeof all, "%.*s%s%s", (int)(at - head), head, instead, at + strlen(line));
    put_bytes(all, (size_t)n);
}

static void assert_one_message(int line, const char *expected)
{
    char want[512];
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    snprintf(want, sizeof want, "%s:%d: %s", file, line, expected);
    ck_assert_str_eq(lm_error(), want);
}

static const struct {
    const char *line, *instead;
    int at;
    const char *message;
} required[] = {
    {"t_end", "t_ned", 3, "run.t_ned: unknown key, did you mean t_end?"},
    {"t_end", "step", 3, "run.step: unknown key, did you mean steps?"},
    {"dt", "dtt", 2, "run.dtt: unknown key, did you mean dt?"},
    {"nx", "n_x", 5, "grid.n_x: unknown key, did you mean nx?"},
    {"[grid]", "[grdi]", 4, "unknown section [grdi], did you mean [grid]?"},
    {"[run]", "[rnu]", 1, "unknown section [rnu], did you mean [run]?"},
    {"[grid]", "[grid", 4, "\"[grid\": ] is missing"},
    {"t_end =", "t_end:", 3, "\"t_end: 2\": expected key = value"},
    {"[species.p]", "[species.p", 9, "\"[species.p\": ] is missing"},
};

START_TEST(test_required_key)
{
    put_in_place_of(required[_i].line, required[_i].instead);
    assert_one_message(required[_i].at, required[_i].message);
}
END_TEST

#define PHASE_SPACE "[distribution.f]\nevery = 1\naxes = vx, vy\nbins = 4, 4\nto = 1, 1\n"

static const struct {
    const char *text;
    int line;
    const char *message;
} hints[] = {
    /* keys that a section needs */
    {"[body.m]\nshap = disk\n", 11, "body.m.shap: unknown key, did you mean shape?"},
    {"[probe.o]\nquantities = B\nxx = 1\ny = 1\n", 12, "probe.o.xx: unknown key, did you mean x?"},
    {"[ionisation.i]\nspecies = p\nrat = 1\n", 12, "ionisation.i.rat: unknown key, did you mean rate?"},
    {"[data.a]\nfile = a.h5\ndatset = b\n", 12, "data.a.datset: unknown key, did you mean dataset?"},
    {"[data.a]\nfile = a.h5\n", 10, "data.a.dataset: required and not given (or magnetic_field, or meshes)"},
    {"[output.m]\nevery = 1\n", 10, "output.m.quantities: required and not given"},
    {"[output.m]\nevery = 1\nquantites = B\n", 12, "output.m.quantites: unknown key, did you mean quantities?"},
    {"[outptu]\nseries_every = 1\n", 10, "unknown section [outptu], did you mean [output]?"},
    /* lists of numbers */
    {"[probe.o]\nquantities = B\nx = 1 2\ny = 1, 1\n", 12, "probe.o.x: \"1 2\": commas separate the numbers of a list"},
    {"[probe.o]\nquantities = B\nx = 0, lx/2 lx\ny = 1, 1, 1\n", 12,
     "probe.o.x: \"lx/2 lx\": commas separate the numbers of a list"},
    {"[probe.o]\nquantities = B\nx = 1, 1\ny = 1 -1\n", 13,
     "probe.o.y: x has 2 numbers and y has 1; commas separate the numbers of a list"},
    {PHASE_SPACE "from = -1 -1\n", 15,
     "distribution.f.from: has 1 number, and there are 2 axes; commas separate the numbers of a list"},
    {PHASE_SPACE "from = -1 .5\n", 15, "distribution.f.from: \"-1 .5\": commas separate the numbers of a list"},
    {PHASE_SPACE "from = -1 q\n", 15, "distribution.f.from: \"-1 q\": commas separate the numbers of a list"},
    {"[output.m]\nevery = 1\nquantities = B\nfrom_x = 0 1\n", 13,
     "output.m.from_x: cannot read \"0 1\" near \"1\": an operator is missing before it"},
    /* words of a list */
    {"[probe.o]\nquantities = velocity\nx = 1\ny = 1\n", 11,
     "probe.o.quantities: \"velocity\" is not one of B, E, J_i, rho, p_e, backgrounds, density"},
    {"[probe.o]\nquantities = B, desnity\nx = 1\ny = 1\n", 11,
     "probe.o.quantities: \"desnity\" is not one of B, E, J_i, rho, p_e, backgrounds, density; did you mean "
     "density?"},
    {"[probe.o]\nquantities = J\nx = 1\ny = 1\n", 11,
     "probe.o.quantities: \"J\" is not one of B, E, J_i, rho, p_e, backgrounds, density"},
    /* choices */
    {"start = radnom\n", 10,
     "species.p.start: \"radnom\" is not one of random, quiet, low_discrepancy; did you mean random?"},
    {"start = Quiet\n", 10,
     "species.p.start: \"Quiet\" is not one of random, quiet, low_discrepancy; did you mean quiet?"},
    {"start = loud\n", 10, "species.p.start: \"loud\" is not one of random, quiet, low_discrepancy"},
};

START_TEST(test_hint)
{
    put_after_head(hints[_i].text);
    assert_one_message(hints[_i].line, hints[_i].message);
}
END_TEST

/* A misspelt key in one section says nothing on the same key of another section. */
START_TEST(test_other_section)
{
    put_after_head("[body.m]\nshap = disk\n[body.n]\nx = 1\n");
    ck_assert_int_eq(read_again(0, NULL), LM_BAD_INPUT);
    assert_message(":11: body.m.shap: unknown key, did you mean shape?");
    assert_message(":12: body.n.shape: required and not given");
    ck_assert_ptr_null(strstr(lm_error(), "body.m.shape"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hints of configurations");
    TCase *tc = tcase_create("hints of configurations");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_required_key, 0, sizeof required / sizeof *required);
    tcase_add_loop_test(tc, test_hint, 0, sizeof hints / sizeof *hints);
    tcase_add_test(tc, test_other_section);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
