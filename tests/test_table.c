/* Tables of measurements: aligned text, JSON, spreads. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/base.h"
#include "bench/table.h"
#include "suite.h"

START_TEST(spread)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
    struct lm_measured a = lm_measured_of(odd, 3), b = lm_measured_of(even, 4), c = lm_measured_of(one, 1);
    ck_assert(a.median == 2 && a.min == 1 && a.max == 3);
    ck_assert(b.median == 2.5 && b.min == 1 && b.max == 4);
    ck_assert(c.median == 7 && c.min == 7 && c.max == 7);
    struct lm_measured rate = lm_measured_rate(12, a);
    ck_assert(rate.median == 6 && rate.min == 4 && rate.max == 12);
}
END_TEST

static struct lm_table *sample(void)
{
    struct lm_table *t;
    ck_assert_int_eq(lm_table_new("sample", "sample: a title", &t), LM_OK);
    ck_assert_int_eq(lm_table_column(t, "time", "ms"), 0);
    ck_assert_int_eq(lm_table_column(t, "sum", ""), 1);
    lm_table_row(t, "first of %d", 2);
    lm_table_measured(t, 0, (struct lm_measured){2, 1, 1234.5});
    lm_table_text(t, 1, "equal");
    lm_table_row(t, "second");
    lm_table_number(t, 0, 0.25);
    lm_table_note(t, "a note");
    return t;
}

START_TEST(text)
{
    static const char expected[] = "sample: a title\n"
                                   "                     time    sum\n"
                                   "                       ms       \n"
                                   "  first of 2  2 (1..1234)  equal\n"
                                   "  second             0.25      -\n"
                                   "  a note\n\n";
    struct lm_table *t = sample();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(lm_table_print(t, out), LM_OK);
    fclose(out);
    ck_assert_str_eq(text, expected);
    free(text);
    lm_table_free(&t);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(json)
{
    struct lm_table *t = sample();
    json_t *j = lm_table_json(t), *rows = json_object_get(j, "rows");
    const char *name, *label, *unit, *word;
    double value, min, max;
    ck_assert_int_eq(json_unpack(j, "{s:s}", "name", &name), 0);
    ck_assert_str_eq(name, "sample");
    ck_assert_uint_eq(json_array_size(rows), 2);
    json_t *first = json_array_get(rows, 0);
    ck_assert_int_eq(json_unpack(first, "{s:s, s:{s:{s:F, s:s, s:F, s:F}, s:{s:s}}}", "label", &label, "values", "time",
                                 "value", &value, "unit", &unit, "min", &min, "max", &max, "sum", "text", &word),
                     0);
    ck_assert_str_eq(label, "first of 2");
    ck_assert_str_eq(unit, "ms");
    ck_assert_str_eq(word, "equal");
    ck_assert(value == 2 && min == 1 && max == 1234.5);
    ck_assert_ptr_null(json_object_get(json_object_get(json_array_get(rows, 1), "values"), "sum"));
    json_decref(j);
    lm_table_free(&t);
}
END_TEST

/* More cells than a table can hold give an error when it is printed, and no crash when it is filled. */
START_TEST(too_many_columns)
{
    struct lm_table *t;
    ck_assert_int_eq(lm_table_new("wide", "wide", &t), LM_OK);
    lm_table_row(t, "row");
    for (int k = 0; k < 100; k++)
        lm_table_number(t, lm_table_column(t, "c", ""), 1);
    ck_assert_int_eq(lm_table_print(t, stdout), LM_FAILED);
    lm_table_free(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *t = tcase_create("table");
    tcase_add_test(t, spread);
    tcase_add_test(t, text);
    tcase_add_test(t, json);
    tcase_add_test(t, too_many_columns);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
