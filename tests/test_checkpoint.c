#include "checkpoint_state.h"
#include "inside.h"
#include "suite.h"

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- what is written comes back --- */

static void assert_same_state(const struct state *a, const struct state *b)
{
    ck_assert_mem_eq(a->fields, b->fields, sizeof a->fields);
    for (int k = 0; k < SPECIES; k++) {
        ck_assert_uint_eq(a->count[k], b->count[k]);
        for (int d = 0; d < 2; d++)
            ck_assert(!memcmp(a->position[k][d], b->position[k][d], a->count[k] * sizeof(int64_t)));
        ck_assert_mem_eq(a->map[k], b->map[k], sizeof a->map[k]);
        for (int d = 0; d < 3; d++)
            ck_assert(!memcmp(a->velocity[k][d], b->velocity[k][d], a->count[k] * real_size(a)));
    }
}

static uint64_t fingerprint_of(const struct state *s, int64_t step)
{
    uint64_t total = lm_hash_step(step);
    for (int f = 0; f < FIELDS; f++)
        for (uint64_t c = 0; c < NX * NY; c++)
            total += lm_hash_value(f, c, s->fields[f][c]);
    for (int k = 0; k < SPECIES; k++)
        for (uint64_t i = 0; i < s->count[k]; i++)
            total += lm_hash_particle(k, s->position[k][0][i], s->position[k][1][i], get_velocity(s, k, 0, i),
                                      get_velocity(s, k, 1, i), get_velocity(s, k, 2, i));
    return total;
}

static void round_trip(int precision, uint64_t count)
{
    struct state *s = full_state(precision, count), *back = make_state(precision, count);
    uint64_t fingerprint;
    write_state(s, 42, 2);
    ck_assert_uint_le(s->largest, 1 << 20);
    ck_assert_str_eq(path, scratch_path("checkpoints/checkpoint_00000042.h5"));
    ck_assert_msg(read_file(path, back) == LM_OK, "%s", lm_error());
    assert_same_state(s, back);
    ck_assert_int_eq(lm_checkpoint_fingerprint(path, &fingerprint), LM_OK);
    ck_assert_uint_eq(fingerprint, fingerprint_of(s, 42));
    free_state(s);
    free_state(back);
}

START_TEST(the_state_comes_back_bit_for_bit)
{
    round_trip(_i ? LM_DOUBLE : LM_SINGLE, 100);
    round_trip(_i ? LM_DOUBLE : LM_SINGLE, (1 << 20) + 37); /* more than one piece */
}
END_TEST

static int same_account(const struct lm_account *a, const struct lm_account *b)
{
    return a->number == b->number && a->v[0] == b->v[0] && a->v[1] == b->v[1] && a->v[2] == b->v[2] && a->v2 == b->v2;
}

static void assert_same_ledger(const struct lm_ledger *a, const struct lm_ledger *b)
{
    ck_assert_uint_eq(a->loaded, b->loaded);
    ck_assert(a->exponent_v == b->exponent_v && a->exponent_v2 == b->exponent_v2);
    for (int k = 0; k < LM_ENTRANCES; k++)
        ck_assert_msg(same_account(&a->injected[k], &b->injected[k]), "injected, entrance %d", k);
    for (int k = 0; k < LM_CHANNELS; k++)
        ck_assert_msg(same_account(&a->lost[k], &b->lost[k]), "lost, channel %d", k);
}

static void assert_same_surfaces(const struct lm_checkpoint_surfaces *a, const struct lm_checkpoint_surfaces *b)
{
    ck_assert_mem_eq(a->sides, b->sides, sizeof a->sides);
    ck_assert_int_eq(a->body_count, b->body_count);
    for (int k = 0; k < b->body_count; k++) {
        ck_assert_str_eq(a->body_names[k], b->body_names[k]);
        ck_assert_int_eq(a->body_particles[k], b->body_particles[k]);
    }
    ck_assert_uint_eq(a->body_cells, b->body_cells);
    ck_assert(a->map_angles == b->map_angles && a->map_energies == b->map_energies && a->map_faces == b->map_faces);
    ck_assert_mem_eq(a->map_energy, b->map_energy, sizeof a->map_energy);
}

START_TEST(the_head_comes_back)
{
    struct state *s = full_state(LM_SINGLE, 10);
    struct lm_checkpoint head = head_of(s, 500), back;
    write_state(s, 500, 1);
    ck_assert_msg(lm_checkpoint_head(path, &back) == LM_OK, "%s", lm_error());
    ck_assert_ptr_null(back.field_names);
    ck_assert_int_eq(back.field_count, FIELDS);
    ck_assert(back.step == 500 && back.time == head.time && back.dt == 0.1 && back.seed == head.seed);
    ck_assert(back.nx == NX && back.ny == NY && back.lx == 3.0 && back.ly == 1.0);
    ck_assert(back.shape == LM_QUADRATIC && back.precision == LM_SINGLE);
    ck_assert(back.energy_start == 12.5);
    ck_assert_mem_eq(back.momentum_start, head.momentum_start, sizeof head.momentum_start);
    ck_assert(back.energy_scale == 6.25 && back.settings_changed == 1);
    ck_assert_int_eq(back.species_count, SPECIES);
    for (int k = 0; k < SPECIES; k++) {
        ck_assert_str_eq(back.species[k].name, head.species[k].name);
        ck_assert(back.species[k].charge == head.species[k].charge && back.species[k].mass == head.species[k].mass);
        ck_assert(back.species[k].weight == head.species[k].weight && back.species[k].count == head.species[k].count);
        ck_assert_mem_eq(back.species[k].limits, head.species[k].limits, sizeof head.species[k].limits);
        assert_same_ledger(&back.species[k].ledger, &head.species[k].ledger);
    }
    assert_same_surfaces(&back.surfaces, &head.surfaces);
    ck_assert_uint_eq(lm_checkpoint_map_size(&back), MAP);
    write_state(s, 501, 1);
    ck_assert_msg(lm_checkpoint_head(path, &back) == LM_OK, "%s", lm_error());
    ck_assert(isnan(back.energy_scale) && back.settings_changed == 0);
    free_state(s);
}
END_TEST

START_TEST(a_long_configuration_is_kept)
{
    enum { LONG = 200000 };
    struct state *s = full_state(LM_DOUBLE, 10);
    struct lm_checkpoint head = head_of(s, 1);
    struct lm_checkpoint_io io = io_of(s);
    char *text = malloc(LONG + 1), *back = calloc(LONG + 1, 1);
    memset(text, 'k', LONG);
    text[LONG] = 0;
    ck_assert_msg(lm_checkpoint_write(scratch, &head, text, 1, &io, path) == LM_OK, "%s", lm_error());
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), a = H5Aopen(file, "configuration", H5P_DEFAULT);
    hid_t type = H5Aget_type(a);
    ck_assert_uint_eq(H5Tget_size(type), LONG);
    H5Aread(a, type, back);
    ck_assert_str_eq(text, back);
    H5Tclose(type);
    H5Aclose(a);
    H5Fclose(file);
    free(text);
    free(back);
    free_state(s);
}
END_TEST

START_TEST(the_fingerprint_sees_all_but_the_order)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    uint64_t first, other;
    write_state(s, 3, 1);
    lm_checkpoint_fingerprint(path, &first);
    for (int d = 0; d < 5; d++) { /* swaps two particles */
        int64_t *p = d < 2 ? s->position[0][d] : (int64_t *)s->velocity[0][d - 2], keep = p[4];
        p[4] = p[7];
        p[7] = keep;
    }
    write_state(s, 3, 1);
    lm_checkpoint_fingerprint(path, &other);
    ck_assert_uint_eq(first, other);
    s->position[2][1][6] ^= 1;
    write_state(s, 3, 1);
    lm_checkpoint_fingerprint(path, &other);
    ck_assert_uint_ne(first, other);
    s->position[2][1][6] ^= 1;
    s->fields[2][NX * NY - 1] = nextafter(s->fields[2][NX * NY - 1], 9.0);
    write_state(s, 3, 1);
    lm_checkpoint_fingerprint(path, &other);
    ck_assert_uint_ne(first, other);
    free_state(s);
}
END_TEST

START_TEST(fields_are_found_by_name)
{
    const char *const turned[FIELDS] = {"moments", "bx", "ez"};
    struct state *s = full_state(LM_DOUBLE, 10), *back = make_state(LM_DOUBLE, 10);
    struct lm_checkpoint head;
    struct lm_checkpoint_io io = io_of(back);
    write_state(s, 3, 1);
    lm_checkpoint_head(path, &head);
    head.field_names = turned;
    ck_assert_int_eq(lm_checkpoint_read(path, &head, &io), LM_OK);
    ck_assert_mem_eq(back->fields[0], s->fields[2], sizeof s->fields[2]);
    ck_assert_mem_eq(back->fields[1], s->fields[0], sizeof s->fields[0]);
    free_state(s);
    free_state(back);
}
END_TEST

START_TEST(a_state_without_particles_or_fields)
{
    struct state *s = make_state(LM_DOUBLE, 0);
    struct lm_checkpoint head = head_of(s, 0), back;
    struct lm_checkpoint_io io = io_of(s);
    uint64_t fingerprint;
    head.species_count = head.field_count = 0;
    ck_assert_msg(lm_checkpoint_write(scratch, &head, NULL, 1, &io, path) == LM_OK, "%s", lm_error());
    ck_assert_msg(lm_checkpoint_head(path, &back) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(lm_checkpoint_read(path, &back, &io), LM_OK);
    ck_assert_int_eq(lm_checkpoint_fingerprint(path, &fingerprint), LM_OK);
    ck_assert_uint_eq(fingerprint, lm_hash_step(0));
    free_state(s);
}
END_TEST

/* --- which files stay --- */

static int file_exists(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

START_TEST(only_older_checkpoints_are_pruned)
{
    write_small(10, 2);
    make_file("checkpoints/checkpoint_00000005.h5.txt", "notes");
    make_file("checkpoints/checkpoint_first.h5", "a name");
    make_file("checkpoints/my_checkpoint_00000001.h5", "mine");
    write_small(900, 9); /* a checkpoint of an earlier run that went further */
    write_small(20, 2);
    ck_assert(file_exists("checkpoints/checkpoint_00000010.h5"));
    write_small(30, 2);
    ck_assert(!file_exists("checkpoints/checkpoint_00000010.h5"));
    ck_assert(file_exists("checkpoints/checkpoint_00000020.h5"));
    write_small(40, 3);
    ck_assert(file_exists("checkpoints/checkpoint_00000020.h5") && file_exists("checkpoints/checkpoint_00000030.h5"));
    write_small(100000050, 1); /* a step number with more digits than the padding */
    ck_assert(!file_exists("checkpoints/checkpoint_00000040.h5") && !file_exists("checkpoints/checkpoint_00000020.h5"));
    ck_assert(file_exists("checkpoints/checkpoint_100000050.h5") && !file_exists("checkpoints/checkpoint_00000900.h5"));
    ck_assert(file_exists("checkpoints/checkpoint_00000005.h5.txt") && file_exists("checkpoints/checkpoint_first.h5"));
    ck_assert(file_exists("checkpoints/my_checkpoint_00000001.h5"));
}
END_TEST

START_TEST(later_checkpoints_stay)
{
    write_small(900, 1);
    write_small(20, 1);
    ck_assert(file_exists("checkpoints/checkpoint_00000900.h5") && file_exists("checkpoints/checkpoint_00000020.h5"));
}
END_TEST

/* --- failures while writing --- */

static void assert_no_part(void)
{
    DIR *folder = opendir(scratch_path("checkpoints"));
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        ck_assert_msg(!strstr(entry->d_name, ".part"), "left behind: %s", entry->d_name);
    closedir(folder);
}

START_TEST(a_failed_callback_leaves_the_old_file)
{
    struct state *s = full_state(LM_DOUBLE, 10), *back = make_state(LM_DOUBLE, 10);
    struct lm_checkpoint head = head_of(s, 7);
    struct lm_checkpoint_io io = io_of(s);
    write_state(s, 6, 1);
    write_state(s, 7, 2);
    s->refuse = 1;
    ck_assert_int_eq(lm_checkpoint_write(scratch, &head, "", 1, &io, path), LM_FAILED);
    assert_error_has("the device is gone");
    assert_no_part();
    ck_assert(file_exists("checkpoints/checkpoint_00000006.h5")); /* nothing is pruned after a failure */
    ck_assert_int_eq(read_file(path, back), LM_OK);
    back->refuse = 1;
    ck_assert_int_eq(read_file(path, back), LM_FAILED);
    assert_error_has("the device is gone");
    free_state(s);
    free_state(back);
}
END_TEST

static int write_limited(struct state *s, rlim_t most)
{
    struct lm_checkpoint head = head_of(s, 7);
    struct lm_checkpoint_io io = io_of(s);
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int again = 0; again < 2; again++) { /* the program goes on after the error and may try again */
        int status = lm_checkpoint_write(scratch, &head, "new", 1, &io, path);
        if (status != LM_FAILED)
            return status;
        if (!strstr(lm_error(), "checkpoint_00000007.h5: cannot ") || !strstr(lm_error(), "File too large"))
            return 99;
    }
    return LM_FAILED;
}

/* Each attempt runs in a process of its own, which must end without a crash in the clean-up of HDF5. */
START_TEST(a_full_disk_leaves_the_old_file)
{
    struct state *s = full_state(LM_DOUBLE, 3000), *back = make_state(LM_DOUBLE, 3000);
    int whole = 0, failed = 0;
    write_state(s, 7, 1);
    for (rlim_t most = 0; most < 200000; most += most < 20000 ? 300 : 7000) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            scratch_exit(write_limited(s, most));
        waitpid(child, &status, 0);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= LM_FAILED, "limit %ld: %x", (long)most, status);
        whole += WEXITSTATUS(status) == LM_OK;
        failed += WEXITSTATUS(status) == LM_FAILED;
        assert_no_part();
        ck_assert_msg(read_file(path, back) == LM_OK, "limit %ld: %s", (long)most, lm_error());
        assert_same_state(s, back);
    }
    ck_assert_int_gt(failed, 10);
    ck_assert_int_gt(whole, 0);
    free_state(s);
    free_state(back);
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_told)
{
    struct state *s = full_state(LM_DOUBLE, 10);
    struct lm_checkpoint head = head_of(s, 7);
    struct lm_checkpoint_io io = io_of(s);
    make_file("checkpoints", "a file in the way");
    ck_assert_int_eq(lm_checkpoint_write(scratch, &head, "", 1, &io, path), LM_FAILED);
    assert_error_has("checkpoints");
    free_state(s);
}
END_TEST

START_TEST(info_describes_a_checkpoint)
{
    char out[4096] = "";
    FILE *stream = fmemopen(out, sizeof out, "w");
    write_small(42, 1);
    ck_assert_int_eq(lm_info_print(path, stream), LM_OK);
    fclose(stream);
    const char *parts[] = {": checkpoint\n",
                           "step       42",
                           "6 x 4 cells, 3 x 1 d_i",
                           "double precision",
                           "protons: 10 particles",
                           "none_yet: 0 particles",
                           "16 loaded, 20 have entered, 4 were born by ionisation, 30 have left",
                           "fields     bx ez moments",
                           "checksum   verified"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        ck_assert_msg(strstr(out, parts[k]) != NULL, "lacks '%s':\n%s", parts[k], out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *files = tcase_create("checkpoint");
    tcase_set_timeout(files, 120);
    tcase_add_checked_fixture(files, scratch_make, scratch_remove);
    tcase_add_loop_test(files, the_state_comes_back_bit_for_bit, 0, 2);
    tcase_add_test(files, the_head_comes_back);
    tcase_add_test(files, a_long_configuration_is_kept);
    tcase_add_test(files, the_fingerprint_sees_all_but_the_order);
    tcase_add_test(files, fields_are_found_by_name);
    tcase_add_test(files, a_state_without_particles_or_fields);
    tcase_add_test(files, only_older_checkpoints_are_pruned);
    tcase_add_test(files, later_checkpoints_stay);
    tcase_add_test(files, a_failed_callback_leaves_the_old_file);
    tcase_add_test(files, a_full_disk_leaves_the_old_file);
    tcase_add_test(files, a_folder_that_cannot_be_is_told);
    tcase_add_test(files, info_describes_a_checkpoint);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
