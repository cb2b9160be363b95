/* Background fields in the configuration: defaults, every key, bad input with file, line and key in the message, and
 * the echo in run.ini. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/config.h"
#include "inside.h"
#include "scratch.h"
#include "suite.h"

static struct lm_config config;

/* A configuration of eighteen lines. What a test adds begins on line 19, in [background.q]. */
static const char head[] = "[run]\ndt = 0.1\nt_end = 2\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n[species.p]\n"
                           "[fields]\nsolver = none\n[boundary]\nx_min = inflow\nx_max = absorbing\n"
                           "y_min = reflecting\ny_max = thermal\n[background.q]\ninitial = x + y\n";
static const char periodic[] = "[run]\ndt = 0.1\nt_end = 2\n[grid]\nnx = 8\nny = 6\nlx = 4\nly = 3\n[species.p]\n"
                               "[background.q]\ninitial = 1\n";

static void setup(void)
{
    scratch_make();
}

static void teardown(void)
{
    lm_config_free(&config);
    scratch_remove();
}

static int read_after(const char *before, const char *text)
{
    char all[4096];
    snprintf(all, sizeof all, "%s%s", before, text);
    lm_config_free(&config);
    return lm_config_read_text("case.ini", all, 0, NULL, &config);
}

static void reads(const char *before, const char *text)
{
    ck_assert_msg(read_after(before, text) == LM_OK, "%s", lm_error());
}

/* There must be exactly one message, and it must begin so. */
static void rejects(const char *before, const char *text, int line, const char *expected)
{
    char want[512];
    ck_assert_msg(read_after(before, text) == LM_BAD_INPUT, "accepted: %s", text);
    snprintf(want, sizeof want, "case.ini:%d: %s", line, expected);
    ck_assert_msg(!strncmp(lm_error(), want, strlen(want)), "no \"%s\" in:\n%s", want, lm_error());
    ck_assert_msg(!strchr(lm_error(), '\n'), "more than one problem:\n%s", lm_error());
}

static void round_trip(void)
{
    static struct lm_config first;
    char *text = NULL;
    size_t length = 0;
    memcpy(&first, &config, sizeof first);
    FILE *out = open_memstream(&text, &length);
    ck_assert_int_eq(lm_config_write(&config, out), LM_OK);
    fclose(out);
    struct lm_names *names = config.names;
    ck_assert_msg(lm_config_read_text("case.ini", text, 0, NULL, &config) == LM_OK, "%s\n%s", lm_error(), text);
    first.names = config.names;
    ck_assert_mem_eq(&first, &config, sizeof first);
    lm_names_free(&names);
    free(text);
}

START_TEST(defaults)
{
    reads(periodic, "");
    const struct lm_background_config *b = config.background;
    ck_assert_int_eq(config.background_count, 1);
    ck_assert_str_eq(b->name, "q");
    ck_assert_int_eq(b->kind, LM_TRACER);
    ck_assert_int_eq(b->flow, LM_FLOW_PRESCRIBED);
    ck_assert_str_eq(b->velocity[0], "0");
    ck_assert_str_eq(b->stream, "");
    ck_assert_int_eq(b->scheme, LM_WENO7);
    ck_assert(b->single == 0 && b->limited == 0 && b->least == 0 && b->most == INFINITY && b->diffusivity == 0);
    ck_assert_str_eq(b->source, "0");
    for (int side = 0; side < LM_SIDES; side++)
        ck_assert_int_eq(b->sides[side], LM_BACKGROUND_PERIODIC);
    ck_assert_double_eq(b->courant, 0.6);
    round_trip();
}
END_TEST

START_TEST(every_key)
{
    reads(head, "kind = neutral_gas\nvx = sin(x)*t\nvy = y\nweno = 9\nsmoothness = single\nbounds = on\n"
                "minimum = -1\nmaximum = 2\ndiffusivity = 0.1\nsource = x - t\ninflow = 1 + t\ncourant = 0.3\n");
    const struct lm_background_config *b = config.background;
    ck_assert_int_eq(b->kind, LM_NEUTRAL_GAS);
    ck_assert_str_eq(b->velocity[0], "sin(x)*t");
    ck_assert_str_eq(b->velocity[1], "y");
    ck_assert_int_eq(b->scheme, LM_WENO9);
    ck_assert(b->single == 1 && b->limited == 1 && b->least == -1 && b->most == 2 && b->diffusivity == 0.1);
    ck_assert_str_eq(b->source, "x - t");
    ck_assert_str_eq(b->inflow, "1 + t");
    ck_assert_double_eq(b->courant, 0.3);
    round_trip();
    reads(periodic, "stream = cos(x)*t\nbounds = on\n");
    ck_assert_str_eq(config.background[0].stream, "cos(x)*t");
    ck_assert(config.background[0].limited && config.background[0].most == INFINITY);
    round_trip();
    static const struct {
        const char *text;
        int scheme;
    } schemes[] = {{"upwind", LM_UPWIND}, {"centred", LM_CENTRED}, {"3", LM_WENO3}, {"5", LM_WENO5}, {"7", LM_WENO7}};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        char text[64];
        snprintf(text, sizeof text, "weno = %s\nvelocity = %s\n", schemes[k].text, k % 2 ? "ion" : "electron");
        reads(periodic, text);
        ck_assert_int_eq(config.background[0].scheme, schemes[k].scheme);
        ck_assert_int_eq(config.background[0].flow, k % 2 ? LM_FLOW_ION : LM_FLOW_ELECTRON);
        round_trip();
    }
}
END_TEST

/* By default the sides of a background field follow those of the particles. */
START_TEST(sides)
{
    reads(head, "inflow = 1\n");
    const int *of = config.background[0].sides;
    ck_assert(of[LM_X_MIN] == LM_BACKGROUND_INFLOW && of[LM_X_MAX] == LM_BACKGROUND_OPEN);
    ck_assert(of[LM_Y_MIN] == LM_BACKGROUND_WALL && of[LM_Y_MAX] == LM_BACKGROUND_WALL);
    round_trip();
    reads(head, "side_x_min = wall\nside_x_max = wall\nside_y_min = open\nside_y_max = inflow\ninflow = y\n");
    ck_assert(of[LM_X_MIN] == LM_BACKGROUND_WALL && of[LM_X_MAX] == LM_BACKGROUND_WALL);
    ck_assert(of[LM_Y_MIN] == LM_BACKGROUND_OPEN && of[LM_Y_MAX] == LM_BACKGROUND_INFLOW);
    round_trip();
    rejects(head, "", 17, "background.q.inflow: required with an inflow side of the field");
    rejects(head, "side_x_min = open\ninflow = 1\n", 20, "background.q.inflow: has a meaning only with an inflow side");
    rejects(periodic, "side_y_max = open\n", 12, "background.q.side_y_max: the particles are periodic there");
    rejects(periodic, "side_y_max = periodic\n", 12,
            "background.q.side_y_max: \"periodic\" is not one of auto, wall, inflow, open");
    rejects(head, "inflow = 1/(y - 0.25)\n", 19,
            "background.q.inflow: at x_min: \"1/(y - 0.25)\" is infinite at x = 0, y");
    rejects(head, "inflow = 1/(t - 0.05)\n", 19, "background.q.inflow: at x_min: \"1/(t - 0.05)\" is infinite");
}
END_TEST

START_TEST(wrong_keys)
{
    rejects(head, "inflow = 1\nbounds = on\nminimum = 2\nmaximum = 1\n", 22,
            "background.q.maximum: is not above minimum");
    rejects(periodic, "maximum = 1\n", 12, "background.q.maximum: has a meaning only with bounds = on");
    rejects(periodic, "bounds = on\nmaximum = inf\n", 13, "background.q.maximum: unknown name \"inf\"");
    rejects(periodic, "bounds = on\nweno = centred\n", 12, "background.q.bounds: weno = centred keeps no bounds");
    rejects(periodic, "vx = 1\nstream = y\n", 13, "background.q.stream: not together with vx");
    rejects(periodic, "velocity = ion\nvx = 1\n", 13, "background.q.vx: has a meaning only with velocity = prescribed");
    rejects(periodic, "velocity = ion\nstream = 1\n", 13, "background.q.stream: has a meaning only with velocity");
    rejects(periodic, "vx = 1/x\n", 12, "background.q.vx: \"1/x\" is infinite at x = 0, y = 0.25, t = 0.05");
    rejects(periodic, "vy = log(-y)\n", 12, "background.q.vy: \"log(-y)\" is ");
    rejects(periodic, "stream = 1/(x + y)\n", 12, "background.q.stream: \"1/(x + y)\" is infinite at x = 0, y = 0");
    rejects(periodic, "source = z\n", 12, "background.q.source: ");
    rejects(periodic, "source = 1/(t - 0.05)\n", 12, "background.q.source: \"1/(t - 0.05)\" is infinite");
    rejects(periodic, "courant = 1.5\n", 12, "background.q.courant: 1.5 is out of range");
    rejects(periodic, "courant = 0\n", 12, "background.q.courant: 0 is out of range");
    rejects(periodic, "diffusivity = -1\n", 12, "background.q.diffusivity: -1 is out of range");
    rejects(periodic, "weno = 4\n", 12, "background.q.weno: \"4\" is not one of upwind, centred, 3, 5, 7, 9");
    rejects(periodic, "kind = gas\n", 12, "background.q.kind: \"gas\" is not one of tracer, neutral_gas");
    rejects(periodic, "velocty = ion\n", 12, "background.q.velocty: unknown key, did you mean velocity?");
    rejects(periodic, "[background.r]\ninitial = t\n", 13, "background.r.initial: ");
    rejects(periodic, "[background.r]\ninitial = 1/(x - 0.25)\n", 13,
            "background.r.initial: \"1/(x - 0.25)\" is infinite");
    rejects(periodic, "[background.r]\n", 12, "background.r.initial: required and not given");
    rejects(periodic, "[background]\n", 12, "unknown section [background]: a background field has a name");
    rejects(periodic, "[backgroud.r]\n", 12, "unknown section [backgroud.r], did you mean [background.r]?");
}
END_TEST

START_TEST(too_many)
{
    char text[1024] = "";
    for (int k = 1; k < LM_MAX_BACKGROUNDS; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "[background.f%d]\ninitial = %d\n", k, k);
    reads(periodic, text);
    ck_assert_int_eq(config.background_count, LM_MAX_BACKGROUNDS);
    ck_assert_str_eq(config.background[7].name, "f7");
    round_trip();
    strcat(text, "[background.more]\ninitial = 1\n");
    rejects(periodic, text, 26, "[background.more]: more than 8 background fields");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("background fields in a configuration");
    TCase *t = tcase_create("background");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, every_key);
    tcase_add_test(t, sides);
    tcase_add_test(t, wrong_keys);
    tcase_add_test(t, too_many);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
