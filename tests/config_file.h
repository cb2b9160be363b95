/* A configuration file in a scratch directory, and what reading it says. */
#ifndef LARMOR_TESTS_CONFIG_FILE_H
#define LARMOR_TESTS_CONFIG_FILE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "larmor/base.h"
#include "larmor/config.h"

static char directory[64];

static char file[128];

static struct lm_config config;

static inline void setup(void)
{
    snprintf(directory, sizeof directory, "/tmp/larmor-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/case.ini", directory);
}

static inline void teardown(void)
{
    lm_config_free(&config);
    unlink(file);
    rmdir(directory);
}

static inline void put_bytes(const char *text, size_t n)
{
    FILE *out = fopen(file, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, n, out), n);
    fclose(out);
}

/* A valid head of nine lines; what a test adds begins on line 10, in [species.p]. */
static const char head[] = "[run]\ndt = 0.1\nt_end = 2\n[grid]\nnx = 4\nny = 3\nlx = 2\nly = 1.5\n[species.p]\n";

static inline void put_after_head(const char *text)
{
    char all[8192];
    int n = snprintf(all, sizeof all, "%s%s", head, text);
    ck_assert_int_lt(n, (int)sizeof all);
    put_bytes(all, (size_t)n);
}

static inline int read_again(int count, const char *const *overrides)
{
    lm_config_free(&config);
    return lm_config_read(file, count, overrides, &config);
}

static inline void assert_reads(const char *text)
{
    put_after_head(text);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
}

static inline void assert_message(const char *expected)
{
    ck_assert_msg(strstr(lm_error(), expected) != NULL, "no \"%s\" in:\n%s", expected, lm_error());
}

/* Writes the configuration over its file and reads it again. The file that was written says what each side does. */
static inline void assert_round_trip(void)
{
    static struct lm_config first;
    memcpy(&first, &config, sizeof first);
    FILE *out = fopen(file, "w");
    ck_assert_int_eq(lm_config_write(&config, out), LM_OK);
    fclose(out);
    ck_assert_msg(read_again(0, NULL) == LM_OK, "%s", lm_error());
    first.names = config.names;
    memset(first.boundary_by_flow, 0, sizeof first.boundary_by_flow);
    memset(first.boundary_speed, 0, sizeof first.boundary_speed);
    ck_assert_mem_eq(&first, &config, sizeof first);
}

#endif
