#include "output/averages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/output.h"

/* ---- the sums ---- */

/* Sets name, what and the shape. */
static void describe(const struct lm_config *c, const struct lm_output_config *o, struct lm_checkpoint_sums *sums)
{
    const struct lm_cells *r = &o->region.cells;
    int n = 0;
    snprintf(sums->name, sizeof sums->name, "%s", o->name);
    sums->arrays = lm_output_sums(c, o->wanted, o->of);
    sums->nx = (r->to_x - r->from_x) / o->coarsen;
    sums->ny = (r->to_y - r->from_y) / o->coarsen;
    n += snprintf(
        sums->what, sizeof sums->what,
        "every %" PRId64 ", average %" PRId64 " every %" PRId64 ", cells %d-%d %d-%d by %d, %d arrays:", o->every,
        o->average, o->average_every, r->from_x, r->to_x, r->from_y, r->to_y, o->coarsen, sums->arrays);
    for (int q = 0; q < LM_QUANTITIES; q++)
        if (o->wanted >> q & 1)
            n += snprintf(sums->what + n, sizeof sums->what - (size_t)n, " %s", lm_quantity_names[q]);
    n += snprintf(sums->what + n, sizeof sums->what - (size_t)n, " of");
    for (int s = 0; s < c->species_count; s++)
        if (o->of >> s & 1)
            n += snprintf(sums->what + n, sizeof sums->what - (size_t)n, " %s", c->species[s].name);
}

static size_t values_of(const struct lm_checkpoint_sums *sums)
{
    return (size_t)sums->arrays * (size_t)sums->ny * (size_t)sums->nx;
}

double lm_averages_bytes(const struct lm_config *c)
{
    double bytes = 0;
    for (int k = 0; k < c->output_count; k++) {
        struct lm_checkpoint_sums sums = {.samples = 0};
        describe(c, &c->outputs[k], &sums);
        bytes += c->outputs[k].average > 0 ? 8 * (double)values_of(&sums) : 0;
    }
    return bytes;
}

int lm_averages_make(const struct lm_config *c, struct lm_averages *out)
{
    *out = (struct lm_averages){.left_out = {0}};
    for (int k = 0; k < c->output_count; k++) {
        struct lm_checkpoint_sums *sums = &out->sums[k];
        if (c->outputs[k].average == 0)
            continue;
        describe(c, &c->outputs[k], sums);
        sums->values = malloc((values_of(sums) + 1) * sizeof *sums->values);
        if (!sums->values)
            return lm_fail(LM_FAILED, "not enough memory for the sums of [output.%s]", sums->name);
    }
    return LM_OK;
}

void lm_averages_free(struct lm_averages *a)
{
    for (int k = 0; k < LM_MAX_OUTPUTS; k++)
        free(a->sums[k].values);
    *a = (struct lm_averages){.left_out = {0}};
}

/* ---- when a sample is due ---- */

/* Samples that the next output after `step` has by then, `step` included. */
static int64_t samples_by(const struct lm_output_config *o, int64_t step)
{
    const int64_t left = o->every - step % o->every; /* steps until that output */
    const int64_t missing = (left + o->average_every - 1) / o->average_every;
    const int64_t all = o->average / o->average_every;
    return missing < all ? all - missing : 0;
}

static int64_t next_output(const struct lm_output_config *o, int64_t step)
{
    return step - step % o->every + o->every;
}

/* 1 when the present step has a sample and no output. */
static int has_sample(const struct lm_output_config *o, int64_t step)
{
    const int64_t left = o->every - step % o->every;
    return step % o->every != 0 && left < o->average && left % o->average_every == 0;
}

int lm_averages_sample(struct lm_averages *a, struct lm_sim *sim, const struct lm_config *c)
{
    const int64_t step = lm_sim_step_number(sim);
    int status = LM_OK;
    for (int k = 0; k < c->output_count && !status; k++)
        if (c->outputs[k].average > 0 && has_sample(&c->outputs[k], step) &&
            a->left_out[k] != next_output(&c->outputs[k], step))
            status = lm_output_mean(sim, c, k, &a->sums[k], 0);
    return status;
}

int lm_averages_write(struct lm_averages *a, struct lm_sim *sim, const struct lm_config *c, int k)
{
    const int64_t step = lm_sim_step_number(sim);
    return step == 0 || a->left_out[k] == step ? LM_OK : lm_output_mean(sim, c, k, &a->sums[k], 1);
}

/* ---- restarts ---- */

int lm_averages_restore(struct lm_averages *a, const struct lm_config *c, const char *checkpoint, int64_t step)
{
    int status = LM_OK;
    for (int k = 0; k < c->output_count && !status; k++) {
        const struct lm_output_config *o = &c->outputs[k];
        const int64_t expected = o->average > 0 ? samples_by(o, step) : 0;
        if (expected == 0)
            continue;
        status = lm_checkpoint_read_sums(checkpoint, &a->sums[k]);
        if (a->sums[k].samples != expected) {
            a->sums[k].samples = 0;
            a->left_out[k] = next_output(o, step);
        }
    }
    return status;
}

void lm_averages_tell(const struct lm_averages *a, const struct lm_config *c, const char *checkpoint, FILE *out)
{
    for (int k = 0; k < c->output_count; k++)
        if (a->left_out[k] > 0)
            fprintf(out,
                    "larmor: warning: [output.%s] has no file of step %" PRId64 ": the samples of its mean begin "
                    "before %s, which does not hold them\n",
                    c->outputs[k].name, a->left_out[k], checkpoint);
}
