/* `larmor completion` and `larmor man`: the script as bash runs it, and the manual page. */
#include "cli.h"

#include "config/keys.h"

/* What the script offers for the words of a line, of which the last one is to be completed, one a line; to be freed. */
static char *offered(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && %s completion > words.sh && bash -c '. ./words.sh; COMP_WORDS=(larmor %s); "
             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _larmor; printf \"%%s\\n\" \"${COMPREPLY[@]}\"' > offered.txt",
             scratch, getenv("LARMOR"), words);
    ck_assert_msg(system(command) == 0, "%s", command);
    char *text = cli_read("offered.txt");
    ck_assert_ptr_nonnull(text);
    return text;
}

static void offers(const char *words, const char *expected)
{
    char *text = offered(words);
    cli_has(text, expected);
    free(text);
}

/* The words of a list, one a line, and nothing else. */
static void offers_exactly(const char *words, const char *expected)
{
    char *text = offered(words), with_end[256];
    snprintf(with_end, sizeof with_end, "%s\n", expected);
    ck_assert_str_eq(text, with_end);
    free(text);
}

START_TEST(commands_and_options)
{
    static const char *const commands[] = {"run\n", "scan\n", "check\n", "keys\n", "info\n", "bench\n", "man\n"};
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        offers("\"\"", commands[k]);
    offers_exactly("ru", "run");
    offers_exactly("run --b", "--backend");
    offers_exactly("run --backend c", "cpu\ncuda");
    offers_exactly("info --", "--verify\n--help");
}
END_TEST

START_TEST(keys_and_values)
{
    offers_exactly("run small.ini run.sort", "run.sort_every=");
    offers_exactly("check small.ini particles.shape = q", "quadratic");
    offers("run small.ini electrons.closure =", "isothermal\npolytropic\n");
    offers_exactly("run small.ini species.protons.part", "species.protons.particles_per_cell=");
    offers_exactly("run small.ini species.protons.start = r", "random");
    offers_exactly("run small.ini species.none.part", "");
    offers_exactly("run sma", "small.ini");
    offers_exactly("run --backend = cp", "cpu");
    FILE *spaced = fopen(scratch_path("two words.ini"), "w");
    fclose(spaced);
    offers_exactly("run two", "two words.ini");
}
END_TEST

/* Each key stands in the page, and no text is taken for a command of troff. */
START_TEST(manual_page)
{
    static const char *const known[] = {".TH ", ".SH ", ".SS ", ".TP\n", ".B ", ".nf\n", ".fi\n", ".ad l\n"};
    CLI(0, "man");
    for (const char *line = cli.out; *line; line = strchr(line, '\n') + 1) {
        int is_known = *line != '.' && *line != '\'';
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known |= !strncmp(line, known[k], strlen(known[k]));
        ck_assert_msg(is_known, "%.60s", line);
    }
    for (int k = 0; k < lm_key_count; k++) {
        char text[80];
        snprintf(text, sizeof text, "\n.B %s\n", lm_keys[k].name);
        cli_has(cli.out, text);
        snprintf(text, sizeof text, "\n.SS [%s]\n", lm_keys[k].section);
        cli_has(cli.out, text);
    }
    cli_has(cli.out, "larmor run FILE.ini [section.key=value ...]");
    CLI(2, "man small.ini");
    cli_has(cli.err, "takes no file: small.ini");
    CLI(2, "completion zsh");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_words");
    TCase *t = tcase_create("words");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_add_test(t, commands_and_options);
    tcase_add_test(t, keys_and_values);
    tcase_add_test(t, manual_page);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
