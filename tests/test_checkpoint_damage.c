/* Damaged checkpoints: bytes that are not those written are found by the checksum. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inside.h"
#include "checkpoint_state.h"
#include "suite.h"

enum { MOST = 1 << 20, FLIPS = 1000 };

static size_t read_bytes(const char *file, char *bytes)
{
    FILE *in = fopen(file, "rb");
    ck_assert_ptr_nonnull(in);
    size_t size = fread(bytes, 1, MOST, in);
    fclose(in);
    ck_assert_uint_gt(size, 2000);
    return size;
}

static void write_bytes(const char *file, const char *bytes, size_t size)
{
    FILE *out = fopen(file, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

/* Whether all readers refuse the file. */
static int is_refused(const char *file, struct state *s)
{
    struct lm_checkpoint head;
    uint64_t fingerprint;
    FILE *nowhere = fopen("/dev/null", "w");
    const int refused = lm_checkpoint_head(file, &head) == LM_BAD_INPUT && read_file(file, s) == LM_BAD_INPUT &&
                        lm_checkpoint_fingerprint(file, &fingerprint) == LM_BAD_INPUT &&
                        lm_info_print(file, nowhere) == LM_BAD_INPUT &&
                        lm_checkpoint_verify(file, nowhere) == LM_BAD_INPUT;
    fclose(nowhere);
    return refused;
}

START_TEST(any_flipped_bit_is_refused)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    char *bytes = malloc(MOST);
    write_small(1, 1);
    const size_t size = read_bytes(path, bytes);
    const char *other = scratch_path("other.h5");
    for (uint64_t k = 0; k < FLIPS; k++) {
        /* the last hundred flips are the first bits of the block that holds the checksum */
        const size_t bit = k < 900 ? (size_t)(lm_mix(k) % (8 * size)) : (size_t)(k - 900);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        write_bytes(other, bytes, size);
        ck_assert_msg(is_refused(other, s), "bit %zu of byte %zu of %zu is flipped", bit % 8, bit / 8, size);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
    write_bytes(other, bytes, size);
    ck_assert_int_eq(read_file(other, s), LM_OK);
    free(bytes);
    free_state(s);
}
END_TEST

START_TEST(bytes_that_are_swapped_missing_or_more_are_refused)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    char *bytes = calloc(1, MOST), *keep = malloc(MOST);
    write_small(1, 1);
    const size_t size = read_bytes(path, bytes);
    const char *other = scratch_path("other.h5");
    memcpy(keep, bytes, size);
    write_bytes(other, bytes, size + 1);
    ck_assert(is_refused(other, s));
    assert_error_has("is damaged: ");
    write_bytes(other, bytes, size - 1);
    ck_assert(is_refused(other, s));
    assert_error_has("is truncated: ");
    memcpy(bytes + 1024, keep + 1536, 512); /* swap two sectors */
    memcpy(bytes + 1536, keep + 1024, 512);
    write_bytes(other, bytes, size);
    ck_assert(is_refused(other, s));
    memset(bytes, 0, 512);
    memcpy(bytes + 512, keep + 512, size - 512);
    write_bytes(other, bytes, size);
    ck_assert(is_refused(other, s));
    assert_error_has("is damaged in its first 512 bytes");
    write_bytes(other, keep + 512, size - 512); /* the block with the checksum is missing */
    ck_assert(is_refused(other, s));
    assert_error_has("has lost its checksum");
    free(bytes);
    free(keep);
    free_state(s);
}
END_TEST

static void flip(const char *file, long at)
{
    FILE *f = fopen(file, "r+b");
    ck_assert_ptr_nonnull(f);
    fseek(f, at, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 4, f);
    fclose(f);
}

START_TEST(an_older_sound_checkpoint_is_named)
{
    char newest[LM_MAX_PATH];
    struct state *s = full_state(LM_DOUBLE, 10);
    for (int step = 10; step <= 40; step += 10)
        write_small(step, 9);
    memcpy(newest, scratch_path("checkpoints/checkpoint_00000030.h5"), sizeof newest);
    flip(newest, 3000);
    ck_assert(is_refused(newest, s));
    assert_error_has("checkpoint_00000030.h5: is damaged: the checksum of its bytes is ");
    assert_error_has("take the older checkpoint ");
    assert_error_has("checkpoint_00000020.h5, which is sound");
    flip(scratch_path("checkpoints/checkpoint_00000020.h5"), 3000);
    ck_assert(is_refused(newest, s));
    assert_error_has("checkpoint_00000010.h5, which is sound");
    flip(scratch_path("checkpoints/checkpoint_00000010.h5"), 3000);
    ck_assert(is_refused(newest, s));
    assert_error_has("no older checkpoint beside it is sound");
    free_state(s);
}
END_TEST

START_TEST(all_checkpoints_of_a_directory_are_verified)
{
    char out[4096] = "";
    write_small(10, 9);
    write_small(20, 9);
    make_file("checkpoints/checkpoint_first.h5", "no such name");
    FILE *stream = fmemopen(out, sizeof out, "w");
    ck_assert_int_eq(lm_checkpoint_verify(scratch, stream), LM_OK);
    fflush(stream);
    ck_assert_ptr_nonnull(strstr(out, "checkpoint_00000010.h5: OK, step 10, "));
    ck_assert_ptr_nonnull(strstr(out, "checkpoint_00000020.h5: OK, step 20, "));
    flip(path, 600);
    ck_assert_int_eq(lm_checkpoint_verify(scratch_path("checkpoints"), stream), LM_BAD_INPUT);
    assert_error_has("1 of 2 checkpoints cannot be used");
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(out, "checkpoint_00000020.h5: is damaged: "));
    ck_assert_int_eq(mkdir(scratch_path("none"), 0777), 0);
    ck_assert_int_eq(lm_checkpoint_verify(scratch_path("none"), stdout), LM_BAD_INPUT);
    assert_error_has("holds no checkpoints");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("damaged checkpoints");
    TCase *files = tcase_create("damaged checkpoints");
    tcase_set_timeout(files, 120);
    tcase_add_checked_fixture(files, scratch_make, scratch_remove);
    tcase_add_test(files, any_flipped_bit_is_refused);
    tcase_add_test(files, bytes_that_are_swapped_missing_or_more_are_refused);
    tcase_add_test(files, an_older_sound_checkpoint_is_named);
    tcase_add_test(files, all_checkpoints_of_a_directory_are_verified);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
