#include "sim/tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/try.h"
#include "larmor/physics/numerics/hash.h"

enum { PIECE = 1 << 16 /* particles in memory at a time */, COLUMNS = 5 };

static int fraction_bits(const struct lm_sim *sim)
{
    return sim->config->particles.precision == LM_SINGLE ? 24 : 48;
}

/* ---- choosing ---- */

struct candidate {
    uint64_t rank; /* the smallest ones are chosen */
    struct lm_tracked ion;
};

/* Those of the smallest ranks among the particles that have been seen, and some more. */
struct choice {
    const struct lm_track_config *track;
    uint64_t seed;
    size_t count, most;          /* most = 2 track->count */
    struct candidate *candidate; /* [most] */
    uint64_t bound;              /* larger ranks are not among the smallest ones */
};

static int by_rank(const void *a, const void *b)
{
    const uint64_t x = ((const struct candidate *)a)->rank, y = ((const struct candidate *)b)->rank;
    return x < y ? -1 : x > y;
}

static void keep_smallest(struct choice *c)
{
    qsort(c->candidate, c->count, sizeof *c->candidate, by_rank);
    if (c->count < (size_t)c->track->count)
        return;
    c->count = (size_t)c->track->count;
    c->bound = c->candidate[c->count - 1].rank;
}

/* Particles in memory: as they are stored, and in the units of expressions. */
struct piece {
    int64_t *x, *y;
    double *column[COLUMNS];
    uint64_t *rank;
    unsigned char *selected;
};

static void consider(struct choice *c, const struct piece *p, uint64_t k)
{
    const double v[3] = {p->column[2][k], p->column[3][k], p->column[4][k]};
    struct candidate *to = &c->candidate[c->count++];
    to->rank = p->rank[k];
    to->ion = (struct lm_tracked){.x = p->x[k], .y = p->y[k], .v = {v[0], v[1], v[2]}, .channel = -1, .left = -1};
    if (c->count == c->most)
        keep_smallest(c);
}

/* Moves the particles that can be among the chosen ones to the beginning; returns their number. So the condition, which
 * is slow to evaluate, is evaluated for these only. The rank depends on the state of the particle only, so that the
 * order of the particles has no effect. */
static uint64_t keep_possible(const struct choice *c, uint64_t count, struct piece *p)
{
    const uint64_t seed = lm_mix(c->seed);
    uint64_t n = 0;
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t rank = lm_mix(
            lm_hash_particle(c->track->of, p->x[k], p->y[k], p->column[2][k], p->column[3][k], p->column[4][k]) ^ seed);
        if (rank > c->bound)
            continue;
        p->rank[n] = rank;
        p->x[n] = p->x[k];
        p->y[n] = p->y[k];
        for (int d = 0; d < COLUMNS; d++)
            p->column[d][n] = p->column[d][k];
        n++;
    }
    return n;
}

static int make_piece(struct piece *p)
{
    double *columns = malloc(COLUMNS * PIECE * sizeof *columns);
    p->x = malloc(2 * PIECE * sizeof *p->x);
    p->rank = malloc(PIECE * sizeof *p->rank);
    p->selected = malloc(PIECE);
    p->y = p->x ? p->x + PIECE : NULL;
    for (int k = 0; k < COLUMNS; k++)
        p->column[k] = columns ? columns + (size_t)k * PIECE : NULL;
    return columns && p->x && p->rank && p->selected ? LM_OK : lm_fail(LM_FAILED, "not enough memory to choose ions");
}

static void free_piece(struct piece *p)
{
    free(p->x);
    free(p->column[0]);
    free(p->rank);
    free(p->selected);
}

static int read_piece(struct lm_sim *sim, int species, uint64_t first, uint64_t count, struct piece *p)
{
    const int is_single = sim->config->particles.precision == LM_SINGLE;
    struct lm_raw_particles raw = {p->x, p->y, p->column[2], p->column[3], p->column[4]};
    const double scale_x = ldexp(sim->grid.dx, -fraction_bits(sim)), scale_y = ldexp(sim->grid.dy, -fraction_bits(sim));
    LM_TRY(sim->backend->particles->get(sim->backend, species, first, count, raw));
    for (uint64_t k = 0; k < count; k++) {
        p->column[0][k] = (double)p->x[k] * scale_x;
        p->column[1][k] = (double)p->y[k] * scale_y;
    }
    for (int d = 2; d < COLUMNS && is_single; d++)
        for (uint64_t k = count; k-- > 0;) /* floats become doubles in the same memory, the last one first */
            p->column[d][k] = (double)((const float *)(const void *)p->column[d])[k];
    return LM_OK;
}

static int consider_all(struct lm_sim *sim, struct choice *c, struct piece *p)
{
    const int species = c->track->of;
    for (uint64_t first = 0; first < sim->count[species]; first += PIECE) {
        const uint64_t left = sim->count[species] - first, read = left < PIECE ? left : PIECE;
        LM_TRY(read_piece(sim, species, first, read, p));
        const uint64_t count = keep_possible(c, read, p);
        LM_TRY(
            lm_expr_select(sim->config->names, c->track->where, count, (const double *const *)p->column, p->selected));
        for (uint64_t k = 0; k < count; k++)
            if (p->selected[k])
                consider(c, p, k);
    }
    keep_smallest(c);
    return LM_OK;
}

static int choose(struct lm_sim *sim, int number)
{
    const struct lm_track_config *track = &sim->config->track[number];
    struct lm_sim_track *to = &sim->track[number];
    struct choice c = {
        .track = track, .seed = sim->config->run.seed, .most = 2 * (size_t)track->count, .bound = UINT64_MAX};
    struct piece p = {.x = NULL};
    int status = lm_sim_compact(sim);
    if (!status)
        status = make_piece(&p);
    if (!status && !(c.candidate = malloc(c.most * sizeof *c.candidate)))
        status = lm_fail(LM_FAILED, "not enough memory to choose ions");
    if (!status)
        status = consider_all(sim, &c, &p);
    if (!status && !(to->ion = malloc((c.count + 1) * sizeof *to->ion)))
        status = lm_fail(LM_FAILED, "not enough memory for the ions that the run follows");
    to->count = status ? 0 : c.count;
    to->identity = lm_hash_step(sim->step);
    for (size_t k = 0; k < to->count; k++) {
        to->ion[k] = c.candidate[k].ion;
        to->identity += c.candidate[k].rank;
    }
    free(c.candidate);
    free_piece(&p);
    return status ? lm_fail_context(status, "%s: [track.%s]", sim->config->file, track->name) : LM_OK;
}

int lm_sim_choose_tracks(struct lm_sim *sim)
{
    for (int k = 0; k < sim->config->track_count; k++)
        if (!sim->track[k].ion && sim->config->track[k].start <= sim->step)
            LM_TRY(choose(sim, k));
    return LM_OK;
}

/* ---- following ---- */

/* How often an ion has gone round a domain of n cells: the cells that it has moved, less those by which its position
 * has changed. */
static int64_t turns(const struct lm_sim *sim, int64_t before, int64_t now, double moved, int n)
{
    return llround((moved - ldexp((double)(now - before), -fraction_bits(sim))) / n);
}

static int follow_track(struct lm_sim *sim, struct lm_sim_track *t, int species, const struct lm_pass *pass)
{
    int64_t *before = malloc((2 * t->count + 1) * sizeof *before);
    if (!before)
        return lm_fail(LM_FAILED, "not enough memory for the ions that the run follows");
    for (uint64_t k = 0; k < t->count; k++)
        before[2 * k] = t->ion[k].x, before[2 * k + 1] = t->ion[k].y;
    const int status = sim->backend->particles->follow(sim->backend, species, pass, t->count, t->ion);
    for (uint64_t k = 0; k < t->count && !status; k++) {
        struct lm_tracked *ion = &t->ion[k];
        if (ion->channel >= 0) {
            ion->left = ion->left < 0 ? sim->step + 1 : ion->left;
            memset(ion->moved, 0, sizeof ion->moved);
            memset(ion->e, 0, sizeof ion->e);
            memset(ion->b, 0, sizeof ion->b);
            continue;
        }
        ion->turns[0] += turns(sim, before[2 * k], ion->x, ion->moved[0], sim->grid.nx);
        ion->turns[1] += turns(sim, before[2 * k + 1], ion->y, ion->moved[1], sim->grid.ny);
    }
    free(before);
    return status;
}

int lm_sim_follow(struct lm_sim *sim, int species, const struct lm_pass *pass)
{
    for (int k = 0; k < sim->config->track_count; k++)
        if (sim->config->track[k].of == species && sim->track[k].count > 0)
            LM_TRY(follow_track(sim, &sim->track[k], species, pass));
    return LM_OK;
}

int lm_sim_track(struct lm_sim *sim, int number, uint64_t *count, const struct lm_tracked **ions)
{
    struct lm_sim_track *t = &sim->track[number];
    *count = t->count;
    *ions = t->ion;
    return t->count == 0
               ? LM_OK
               : sim->backend->particles->follow(sim->backend, sim->config->track[number].of, NULL, t->count, t->ion);
}

uint64_t lm_sim_track_identity(const struct lm_sim *sim, int number)
{
    return sim->track[number].identity;
}

/* ---- checkpoints ---- */

void lm_sim_describe_tracks(const struct lm_sim *sim, struct lm_checkpoint *head)
{
    for (int k = 0; k < sim->config->track_count; k++) {
        const struct lm_track_config *track = &sim->config->track[k];
        struct lm_checkpoint_track *to = &head->track[head->track_count];
        if (!sim->track[k].ion)
            continue;
        memcpy(to->name, track->name, sizeof to->name);
        memcpy(to->species, track->species, sizeof to->species);
        to->count = sim->track[k].count;
        to->ions = sim->track[k].ion;
        to->identity = sim->track[k].identity;
        head->track_count++;
    }
}

static int restore_track(struct lm_sim *sim, int number, const char *path, const struct lm_checkpoint_track *from)
{
    const struct lm_track_config *track = &sim->config->track[number];
    struct lm_sim_track *to = &sim->track[number];
    if (strcmp(from->species, track->species))
        return lm_fail(LM_BAD_INPUT,
                       "%s: [track.%s] follows ions of %s there, and of %s in the run: give the section another name",
                       path, track->name, from->species, track->species);
    to->ion = malloc((from->count + 1) * sizeof *to->ion);
    if (!to->ion)
        return lm_fail(LM_FAILED, "not enough memory for the ions that the run follows");
    to->count = from->count;
    to->identity = from->identity;
    return lm_checkpoint_read_track(path, sim->config->track[number].name, to->count, to->ion);
}

int lm_sim_restore_tracks(struct lm_sim *sim, const char *path, const struct lm_checkpoint *head)
{
    for (int k = 0; k < sim->config->track_count; k++)
        for (int n = 0; n < head->track_count; n++)
            if (!strcmp(sim->config->track[k].name, head->track[n].name))
                LM_TRY(restore_track(sim, k, path, &head->track[n]));
    return lm_sim_choose_tracks(sim);
}
