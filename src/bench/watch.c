#include "bench/cases.h"
#include "larmor/physics/particles/surface.h"

#include <string.h>

static struct {
    const struct lm_backend_ops *real;
    const struct lm_particle_ops *real_particles;
    struct lm_backend_ops timed;
    struct lm_particle_ops timed_particles;
    struct lm_bench_watch sum;
    struct lm_control seen; /* tallies that waiting has taken from the one who asks for them */
} watched;

/* Waits. control hands tallies over only once. */
static int drain(struct lm_backend *b)
{
    struct lm_control now = {0};
    int status = watched.real->control(b, &now);
    for (int s = 0; s < LM_MAX_SPECIES && !status; s++) {
        for (int k = 0; k < LM_CHANNELS; k++)
            lm_tally_add(&watched.seen.lost[s][k], &now.lost[s][k]);
        for (int k = 0; k < LM_ENTRANCES; k++)
            lm_tally_add(&watched.seen.injected[s][k], &now.injected[s][k]);
        lm_tally_add(&watched.seen.to_gas[s], &now.to_gas[s]);
        lm_tally_add(&watched.seen.exchanged[s], &now.exchanged[s]);
        lm_tally_add(&watched.seen.to_electrons[s], &now.to_electrons[s]);
    }
    for (int f = 0; f < LM_MAX_BACKGROUNDS && !status; f++) {
        struct lm_advected *to = &watched.seen.background[f];
        lm_wide_merge(&to->source, &now.background[f].source);
        for (int side = 0; side < LM_SIDES; side++)
            lm_wide_merge(&to->crossed[side], &now.background[f].crossed[side]);
    }
    return status;
}

static int timed_control(struct lm_backend *b, struct lm_control *out)
{
    int status = drain(b);
    status = status ? status : watched.real->control(b, out);
    memcpy(out->lost, watched.seen.lost, sizeof out->lost);
    memcpy(out->injected, watched.seen.injected, sizeof out->injected);
    memcpy(out->to_gas, watched.seen.to_gas, sizeof out->to_gas);
    memcpy(out->exchanged, watched.seen.exchanged, sizeof out->exchanged);
    memcpy(out->to_electrons, watched.seen.to_electrons, sizeof out->to_electrons);
    for (int f = 0; f < LM_MAX_BACKGROUNDS; f++) {
        out->background[f].source = watched.seen.background[f].source;
        memcpy(out->background[f].crossed, watched.seen.background[f].crossed, sizeof out->background[f].crossed);
    }
    watched.seen = (struct lm_control){0};
    return status;
}

static int timed_pass(struct lm_backend *b, int species, const struct lm_pass *pass)
{
    int status = drain(b);
    double before = lm_clock();
    status = status ? status : watched.real_particles->pass(b, species, pass);
    status = status ? status : drain(b);
    watched.sum.pass += lm_clock() - before;
    return status;
}

static int timed_sort(struct lm_backend *b, int species)
{
    int status = drain(b);
    double before = lm_clock();
    status = status ? status : watched.real_particles->sort(b, species);
    status = status ? status : drain(b);
    watched.sum.sort += lm_clock() - before;
    watched.sum.sorts++;
    return status;
}

void lm_bench_watch_begin(struct lm_backend *b)
{
    watched.real = b->ops;
    watched.timed = *b->ops;
    watched.timed.control = timed_control;
    watched.real_particles = b->particles;
    watched.timed_particles = *b->particles;
    watched.timed_particles.pass = timed_pass;
    watched.timed_particles.sort = timed_sort;
    watched.seen = (struct lm_control){0};
    watched.sum = (struct lm_bench_watch){0};
    b->ops = &watched.timed;
    b->particles = &watched.timed_particles;
}

struct lm_bench_watch lm_bench_watch_read(void)
{
    return watched.sum;
}

void lm_bench_watch_end(struct lm_backend *b)
{
    b->ops = watched.real;
    b->particles = watched.real_particles;
}
