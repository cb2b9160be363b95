/* `larmor info` of damaged files gives an error, or as many lines as for the sound file, and never crashes. */
#include "inside.h"
#include "cli.h"

#include "checkpoint/checkpoint.h"
#include "larmor/physics/numerics/hash.h"

/* HDF5 leaks memory of a damaged file. That is no leak of Larmor. The sanitizer's library calls this function, so it
 * must be visible there. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

enum { MOST = 1 << 21, TRIES = 600, METADATA = 8192, TEXT = 1 << 16 };

static const char *const files[] = {"run/series.h5", "run/fields/data_00000040.h5", "run/particles/data_00000040.h5",
                                    "run/maps/maps_00000040.h5", "run/checkpoints/checkpoint_00000040.h5"};
enum { FILES = sizeof files / sizeof *files };

static void make_run(void)
{
    cli_setup();
    CLI(0, "run small.ini --quiet --output run output.checkpoint_every=40 output.fields_every=40 "
           "output.particles_every=40 output.maps_every=40 boundary.x_min=absorbing boundary.x_max=reflecting "
           "output.map_angles=4 output.map_energies=5");
}

static char text[TEXT];

/* Returns the status of lm_info_print and the number of lines. */
static int info(const char *file, int *lines)
{
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    int status = lm_info_print(file, out);
    fclose(out);
    *lines = cli_lines(text);
    return status;
}

/* Damages a file in way `k`: a flipped bit anywhere, a flipped bit in the description of the data, a cut, or a piece
 * of zeros. Returns the new length. */
static size_t damage(unsigned char *bytes, size_t size, uint64_t k)
{
    const uint64_t r = lm_mix(k + 1);
    const size_t near = size < METADATA ? size : METADATA, at = (size_t)(r % size);
    if (k % 4 < 2) {
        const size_t bit = (size_t)(r % (8 * (k % 4 ? near : size)));
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ (1 << bit % 8));
    } else if (k % 4 == 2) {
        return at;
    } else {
        const size_t n = size - at < 64 ? size - at : 64;
        memset(bytes + at, 0, n);
    }
    return size;
}

START_TEST(damaged_files)
{
    const char *file = scratch_path(files[_i]), *other = scratch_path("other.h5");
    unsigned char *bytes = malloc(MOST), *hurt = malloc(MOST);
    int sound, lines, refused = 0;
    FILE *in = fopen(file, "rb");
    ck_assert_ptr_nonnull(in);
    const size_t size = fread(bytes, 1, MOST, in);
    fclose(in);
    ck_assert_int_eq(info(file, &sound), LM_OK);
    ck_assert_int_ge(sound, 4);
    for (uint64_t k = 0; k < TRIES; k++) {
        memcpy(hurt, bytes, size);
        const size_t length = damage(hurt, size, k);
        FILE *out = fopen(other, "wb");
        fwrite(hurt, 1, length, out);
        fclose(out);
        const int status = info(other, &lines);
        refused += status != LM_OK;
        ck_assert_msg(status == LM_BAD_INPUT || (status == LM_OK && lines == sound),
                      "%s, try %d: status %d, %d of %d lines:\n%s", files[_i], (int)k, status, lines, sound, text);
    }
    ck_assert_int_ge(refused, TRIES / 4); /* at least every cut must be found */
    free(bytes);
    free(hurt);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("info");
    TCase *t = tcase_create("damaged files");
    tcase_add_checked_fixture(t, make_run, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, damaged_files, 0, FILES);
    suite_add_tcase(suite, t);
    return cli_main(suite);
}
