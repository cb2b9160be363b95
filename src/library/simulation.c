/* The life of a simulation of the library: opened, begun or restarted, stepped, saved, closed. */
#include "library/simulation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "library/host.h"
#include "output/directory.h"
#include "output/lock.h"
#include "output/series_columns.h"
#include "ranks/ranks.h"
#include "run/differences.h"
#include "run/provenance.h"
#include "run/warnings.h"
#include "sim/restart.h"
#include "survey/prepare.h"

_Static_assert((int)LARMOR_OK == (int)LM_OK && (int)LARMOR_FAILED == (int)LM_FAILED &&
                   (int)LARMOR_BAD_INPUT == (int)LM_BAD_INPUT && (int)LARMOR_STOPPED == (int)LM_STOPPED,
               "enum larmor_status has the values of enum lm_status");

const char *larmor_version(void)
{
    return LM_VERSION;
}

const char *larmor_error(void)
{
    return lm_error();
}

/* --- open and close --- */

static int no_memory(void)
{
    return lm_fail(LM_FAILED, "not enough memory");
}

static int refuse_ranks(void)
{
    const int count = lm_ranks_launched();
    if (count < 2)
        return LM_OK;
    return lm_fail(LM_BAD_INPUT,
                   "the library of Larmor runs in one process, and MPI has started %d: start one process, or run the "
                   "program larmor on many ranks",
                   count);
}

static int write_settings(struct larmor_simulation *sim)
{
    size_t size;
    FILE *out = open_memstream(&sim->settings, &size);
    if (!out)
        return no_memory();
    const int status = lm_config_write(&sim->config, out);
    return fclose(out) ? no_memory() : status;
}

static int open_simulation(const char *file, int count, const char *const *overrides, struct larmor_simulation **out)
{
    *out = NULL;
    LM_TRY(refuse_ranks());
    struct larmor_simulation *sim = calloc(1, sizeof *sim);
    if (!sim)
        return no_memory();
    sim->restarted = -1;
    int status = lm_config_read(file, count, overrides, &sim->config);
    if (!status)
        status = lm_row_columns(&sim->config, &sim->column_count, &sim->columns);
    if (!status)
        status = write_settings(sim);
    if (status) {
        larmor_close(sim);
        return status;
    }
    lm_library_list_arrays(sim);
    *out = sim;
    return LM_OK;
}

int larmor_open(const char *file, int count, const char *const *overrides, struct larmor_simulation **out)
{
    int status;
    LM_LIBRARY_CALL();
    LM_LIBRARY_FILES(status, open_simulation(file, count, overrides, out));
    return status;
}

void larmor_close(struct larmor_simulation *sim)
{
    if (!sim)
        return;
    lm_sim_destroy(&sim->sim);
    lm_config_free(&sim->config);
    free(sim->settings);
    free(sim->warnings);
    free(sim->columns);
    free(sim);
}

int lm_library_need_state(const struct larmor_simulation *sim)
{
    if (!sim->sim)
        return lm_fail(LM_BAD_INPUT, "%s: there is no state yet: call larmor_begin or larmor_restart first",
                       sim->config.file);
    if (sim->lost)
        return lm_fail(LM_FAILED, "%s: the step after number %lld failed, and the state is lost: close the simulation",
                       sim->config.file, (long long)lm_sim_step_number(sim->sim));
    return LM_OK;
}

/* --- begin and restart --- */

/* The checks that the program makes before a run. `head`: of the checkpoint, or NULL. */
static int prepare(struct larmor_simulation *sim, const struct lm_checkpoint *head, FILE *warnings)
{
    uint64_t counts[LM_MAX_SPECIES] = {0};
    struct lm_prepared p;
    for (int s = 0; head && s < sim->config.species_count && s < head->species_count; s++)
        counts[s] = head->species[s].count;
    LM_TRY(lm_prepare(&sim->config, head ? counts : NULL, &p));
    lm_warnings_print(NULL, &p.limits, "", warnings);
    lm_prepare_free(&p);
    return lm_sim_create(&sim->config, &sim->sim);
}

static int begin(struct larmor_simulation *sim, FILE *warnings)
{
    LM_TRY(prepare(sim, NULL, warnings));
    LM_TRY(lm_sim_begin(sim->sim)); /* which checks the first step */
    sim->checked = 1;
    return lm_row_references(sim->sim, &sim->references);
}

static int restart(struct larmor_simulation *sim, const char *path, FILE *warnings)
{
    struct lm_checkpoint head;
    struct lm_differences changed;
    int status = lm_differences_read(&sim->config, path, &head, &changed);
    if (!status)
        lm_differences_print(&changed, path, warnings);
    const int matter = lm_differences_matter(&changed);
    lm_differences_free(&changed);
    LM_TRY(status);
    LM_TRY(prepare(sim, &head, warnings));
    LM_TRY(lm_sim_restore_state(sim->sim, path, &head));
    sim->references = lm_checkpoint_references(&head);
    sim->references.changed |= matter;
    sim->restarted = head.step;
    sim->checked = !lm_sim_check(sim->sim); /* a failure is the next step's */
    return LM_OK;
}

static int restart_from_latest(struct larmor_simulation *sim, FILE *warnings)
{
    char path[LM_MAX_PATH], damaged[LM_MAX_PATH] = "";
    int64_t step;
    const int found = lm_checkpoint_newest(sim->config.output.directory, path, &step, damaged);
    if (*damaged)
        fprintf(warnings, "%s: is damaged and passed over\n", damaged);
    return found ? restart(sim, path, warnings) : begin(sim, warnings);
}

/* `checkpoint`: a path, "latest" or NULL. */
static int start(struct larmor_simulation *sim, const char *checkpoint)
{
    if (sim->tried)
        return lm_fail(LM_BAD_INPUT, "%s: the simulation has been begun already: open it once more for a new beginning",
                       sim->config.file);
    size_t size;
    FILE *warnings = open_memstream(&sim->warnings, &size);
    if (!warnings)
        return no_memory();
    sim->tried = 1;
    int status = !checkpoint                    ? begin(sim, warnings)
                 : strcmp(checkpoint, "latest") ? restart(sim, checkpoint, warnings)
                                                : restart_from_latest(sim, warnings);
    if (fclose(warnings) && !status)
        status = no_memory();
    if (status)
        lm_sim_destroy(&sim->sim);
    return status;
}

int larmor_begin(struct larmor_simulation *sim)
{
    LM_LIBRARY_CALL();
    return start(sim, NULL);
}

int larmor_restart(struct larmor_simulation *sim, const char *checkpoint)
{
    int status;
    LM_LIBRARY_CALL();
    LM_LIBRARY_FILES(status, start(sim, checkpoint));
    return status;
}

const char *larmor_warnings(const struct larmor_simulation *sim)
{
    return sim->warnings ? sim->warnings : "";
}

const char *larmor_settings(const struct larmor_simulation *sim)
{
    return sim->settings;
}

/* --- steps --- */

static int step(struct larmor_simulation *sim)
{
    const double before = lm_clock();
    int status = sim->checked ? LM_OK : lm_sim_check(sim->sim);
    sim->checked = 0;
    if (status)
        return status;
    status = lm_sim_step(sim->sim);
    sim->stepping += lm_clock() - before;
    if (!status)
        return LM_OK;
    sim->lost = 1;
    return lm_fail_context(status, "%s: step %lld failed, and the state is lost", sim->config.file,
                           (long long)lm_sim_step_number(sim->sim) + 1);
}

int larmor_step(struct larmor_simulation *sim, int64_t count)
{
    LM_LIBRARY_CALL();
    LM_TRY(lm_library_need_state(sim));
    for (int64_t k = 0; k < count; k++)
        LM_TRY(step(sim));
    /* A row holds limits of the next step, which the check finds. A failure of the check is the next call's. */
    if (count > 0)
        sim->checked = !lm_sim_check(sim->sim);
    return LM_OK;
}

/* --- a checkpoint --- */

/* The directory is that of these settings, or new. */
static int check_directory(const struct larmor_simulation *sim)
{
    const char *directory = sim->config.output.directory;
    struct lm_differences d;
    LM_TRY(lm_directory_check(directory, 1, NULL));
    const int differ = !lm_differences_of_run(&sim->config, &d) && d.count > 0;
    int status = LM_OK;
    if (differ)
        status = lm_fail(LM_BAD_INPUT,
                         "%s: holds a run of other settings (%s: %.160s there, %.160s here); choose another "
                         "output.directory",
                         directory, d.list[0].key, d.list[0].there, d.list[0].here);
    lm_differences_free(&d);
    return status;
}

static int save(struct larmor_simulation *sim)
{
    struct lm_lock lock = {.file = -1, .silent = 1};
    LM_TRY(lm_library_need_state(sim));
    LM_TRY(lm_lock_existing(&lock, sim->config.output.directory));
    int status = check_directory(sim);
    if (!status) {
        lm_run_set_provenance(&sim->config);
        status = lm_sim_save(sim->sim, &sim->references, INT_MAX, sim->saved);
    }
    lm_lock_release(&lock);
    return status;
}

int larmor_save(struct larmor_simulation *sim, const char **path)
{
    int status;
    LM_LIBRARY_CALL();
    LM_LIBRARY_FILES(status, save(sim));
    if (path)
        *path = sim->saved;
    return status;
}
