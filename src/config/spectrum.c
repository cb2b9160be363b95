/* Waves with random phases as functions of x and y: [spectrum.NAME]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary_host.h"
#include "base/names.h"
#include "config/reader.h"
#include "larmor/physics/numerics/hash.h"

/* A_z and B_z of the magnetic field, and the velocity. B_x = dA_z/dy and B_y = -dA_z/dx. */
enum quantity { AZ, BZ, UX, UY, UZ, QUANTITIES };
static const char *const suffixes[QUANTITIES] = {"az", "bz", "ux", "uy", "uz"};

enum { MOST = 512 /* waves along an axis */ };
static const double TWO_PI = 2 * 3.14159265358979323846;

/* A wave: m waves along the domain's x and n along its y, m > 0 or m = 0 < n. A quantity is the sum of
 * cosine cos(p) + sine sin(p) with p = 2 pi (m x/lx + n y/ly). */
struct wave {
    int m, n;
    double cosine[QUANTITIES], sine[QUANTITIES];
};

struct lm_waves {
    struct function {
        const struct lm_waves *of;
        enum quantity quantity;
    } function[QUANTITIES];
    double lx, ly;
    int count, most_m, most_n;
    struct wave *wave; /* owned */
    uint64_t hash;     /* of all that the values depend on, never 0 */
};

/* --- a value --- */

/* cos(k angle) and sin(k angle) for k = 0 .. most. */
static void fill_multiples(double angle, int most, double *cosine, double *sine)
{
    const double c = lm_host_cos(angle), s = lm_host_sin(angle);
    cosine[0] = 1;
    sine[0] = 0;
    for (int k = 1; k <= most; k++) {
        cosine[k] = cosine[k - 1] * c - sine[k - 1] * s;
        sine[k] = sine[k - 1] * c + cosine[k - 1] * s;
    }
}

/* A quantity along a line of constant y: the sum over m of cosine[m] cos(p) + sine[m] sin(p) with p = 2 pi m x/lx. Each
 * thread keeps its last line of each quantity, because most callers go along lines. */
struct line {
    uint64_t of; /* lm_waves.hash; 0: none */
    double y, cosine[MOST + 1], sine[MOST + 1];
};

static void find_line(struct line *l, const struct lm_waves *w, enum quantity q, double y)
{
    double cos_y[MOST + 1], sin_y[MOST + 1];
    l->of = w->hash;
    l->y = y;
    memset(l->cosine, 0, ((size_t)w->most_m + 1) * sizeof *l->cosine);
    memset(l->sine, 0, ((size_t)w->most_m + 1) * sizeof *l->sine);
    fill_multiples(TWO_PI * y / w->ly, w->most_n, cos_y, sin_y);
    for (int k = 0; k < w->count; k++) {
        const struct wave *v = &w->wave[k];
        const double c = cos_y[abs(v->n)], s = v->n < 0 ? -sin_y[-v->n] : sin_y[v->n];
        l->cosine[v->m] += v->cosine[q] * c + v->sine[q] * s;
        l->sine[v->m] += v->sine[q] * c - v->cosine[q] * s;
    }
}

static double sample(const void *data, double x, double y)
{
    static _Thread_local struct line lines[QUANTITIES];
    const struct function *f = data;
    const struct lm_waves *w = f->of;
    struct line *l = &lines[f->quantity];
    double c[MOST + 1], s[MOST + 1], sum = 0;
    if (w->count == 0)
        return 1; /* the numbers are wrong, which has been reported */
    if (l->of != w->hash || l->y != y)
        find_line(l, w, f->quantity, y);
    fill_multiples(TWO_PI * x / w->lx, w->most_m, c, s);
    for (int m = 0; m <= w->most_m; m++)
        sum += l->cosine[m] * c[m] + l->sine[m] * s[m];
    return sum;
}

/* --- the waves --- */

/* A number in [0, 1) that depends on the seed, the wave and `which` alone. */
static double draw(const struct lm_spectrum_config *s, int m, int n, uint64_t which)
{
    const uint64_t wave = (uint64_t)(uint32_t)m << 32 | (uint32_t)n;
    return (double)(lm_mix(lm_mix(lm_mix(s->seed) ^ wave) ^ which) >> 11) * 0x1p-53;
}

/* Adds a cos(p + phase) + b sin(p + phase) to a quantity. */
static void add(struct wave *w, enum quantity q, double phase, double a, double b)
{
    const double c = lm_host_cos(phase), s = lm_host_sin(phase);
    w->cosine[q] += a * c + b * s;
    w->sine[q] += b * c - a * s;
}

/* The parts of a wave of amplitude b. A_z goes with the cosine. The part of B_z in phase with it has helicity; the part
 * of the velocity in phase with B has cross helicity. The rest of both is a quarter of a wave ahead or behind. */
static void fill(struct wave *w, const struct lm_spectrum_config *s, double kx, double ky, double b)
{
    const double k = sqrt(kx * kx + ky * ky), phase = TWO_PI * draw(s, w->m, w->n, 0);
    const double h = s->helicity, c = s->cross_helicity, u = s->amplitude > 0 ? s->velocity / s->amplitude : 0;
    const double other_h = (draw(s, w->m, w->n, 1) < 0.5 ? -1 : 1) * sqrt(1 - h * h),
                 other_c = (draw(s, w->m, w->n, 2) < 0.5 ? -1 : 1) * sqrt(1 - c * c);
    add(w, AZ, phase, b / k, 0);
    add(w, BZ, phase, b * h, b * other_h);
    /* The velocity has the stream function u (b/k) (c cos + other_c sin), and u_z follows from B_z likewise. */
    add(w, UX, phase, u * b * ky / k * other_c, -u * b * ky / k * c);
    add(w, UY, phase, -u * b * kx / k * other_c, u * b * kx / k * c);
    add(w, UZ, phase, u * b * (h * c - other_h * other_c), u * b * (other_h * c + h * other_c));
}

/* Calls for each wave of the range; with `out` stores the waves and their wave numbers squared. Returns how many. */
static int list_waves(const struct lm_config *c, const struct lm_spectrum_config *s, struct wave *out)
{
    const int most_m = (c->grid.nx - 1) / 2, most_n = (c->grid.ny - 1) / 2; /* the shortest wave has no sine */
    int count = 0;
    for (int m = 0; m <= most_m && TWO_PI * m / c->grid.lx <= s->to_k; m++)
        for (int n = m > 0 ? -most_n : 1; n <= most_n; n++) {
            const double kx = TWO_PI * m / c->grid.lx, ky = TWO_PI * n / c->grid.ly, k = sqrt(kx * kx + ky * ky);
            if (k < s->from_k || k > s->to_k)
                continue;
            if (out)
                out[count] = (struct wave){.m = m, .n = n};
            count++;
        }
    return count;
}

/* b of a wave is proportional to k^-(slope + 1)/2: so many waves have about this k, if there are two dimensions. */
static double weight_of(const struct lm_config *c, const struct lm_spectrum_config *s, double k)
{
    return lm_host_pow(k, -(s->slope + (c->grid.nx > 1 && c->grid.ny > 1)));
}

static uint64_t hash_of(const struct lm_waves *w)
{
    uint64_t hash = lm_mix(lm_mix(lm_bits(w->lx)) ^ lm_bits(w->ly));
    for (int k = 0; k < w->count; k++) {
        const struct wave *v = &w->wave[k];
        hash = lm_mix(hash ^ ((uint64_t)(uint32_t)v->m << 32 | (uint32_t)v->n));
        for (int q = 0; q < QUANTITIES; q++)
            hash = lm_mix(lm_mix(hash ^ lm_bits(v->cosine[q])) ^ lm_bits(v->sine[q]));
    }
    return hash | 1;
}

static int make_waves(const struct lm_config *c, const struct lm_spectrum_config *s, struct lm_waves *w)
{
    double sum = 0;
    const int count = list_waves(c, s, NULL);
    w->wave = calloc((size_t)count + 1, sizeof *w->wave);
    if (!w->wave)
        return lm_fail(LM_FAILED, "not enough memory for the waves of a spectrum");
    list_waves(c, s, w->wave);
    w->lx = c->grid.lx;
    w->ly = c->grid.ly;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            struct wave *v = &w->wave[k];
            const double kx = TWO_PI * v->m / w->lx, ky = TWO_PI * v->n / w->ly;
            const double weight = weight_of(c, s, sqrt(kx * kx + ky * ky));
            if (pass == 0)
                sum += weight;
            else
                fill(v, s, kx, ky, s->amplitude * sqrt(weight / sum));
            w->most_m = v->m > w->most_m ? v->m : w->most_m;
            w->most_n = abs(v->n) > w->most_n ? abs(v->n) : w->most_n;
        }
    w->count = count;
    w->hash = hash_of(w);
    return LM_OK;
}

/* --- all of them --- */

static void report(struct lm_config_reader *r, int k, const char *key, const char *wrong)
{
    const int line = r->named_key_line[LM_SPECTRA][k][lm_keys_find(LM_SPECTRUM_SECTION, key)];
    lm_problems_add(&r->problems, line, "spectrum.%s.%s: %s", r->config->spectrum[k].name, key, wrong);
    r->unusable_values = 1;
}

/* Defines the functions of a spectrum. LM_BAD_INPUT: a name is taken. */
static int name_one(struct lm_config *c, struct lm_spectrum_config *s)
{
    int status = LM_OK;
    s->waves = calloc(1, sizeof *s->waves);
    if (!s->waves)
        return lm_fail(LM_FAILED, "not enough memory for the waves of a spectrum");
    for (int q = 0; q < QUANTITIES && !status; q++) {
        char name[LM_MAX_NAME + 4];
        snprintf(name, sizeof name, "%s_%s", s->name, suffixes[q]);
        s->waves->function[q] = (struct function){s->waves, (enum quantity)q};
        status = lm_names_define_sampled(c->names, name, sample, &s->waves->function[q]);
    }
    return status;
}

int lm_config_name_spectra(struct lm_config_reader *r)
{
    for (int k = 0; k < r->config->spectrum_count; k++) {
        const int status = name_one(r->config, &r->config->spectrum[k]);
        if (status == LM_FAILED)
            return status;
        if (status)
            report(r, k, "from_k", lm_error());
    }
    return LM_OK;
}

static int make_one(struct lm_config_reader *r, int k)
{
    const struct lm_config *c = r->config;
    const struct lm_spectrum_config *s = &c->spectrum[k];
    const double shortest_x = c->grid.nx > 1 ? TWO_PI / 2 / (c->grid.lx / c->grid.nx) : INFINITY,
                 shortest_y = c->grid.ny > 1 ? TWO_PI / 2 / (c->grid.ly / c->grid.ny) : INFINITY;
    char wrong[160];
    if (s->to_k > fmin(shortest_x, shortest_y)) {
        snprintf(wrong, sizeof wrong, "%g is beyond the shortest wave of the grid, pi/dx = %g", s->to_k,
                 fmin(shortest_x, shortest_y));
        report(r, k, "to_k", wrong);
    } else if (s->to_k * fmax(c->grid.lx, c->grid.ly) > TWO_PI * MOST) {
        snprintf(wrong, sizeof wrong, "more than %d waves of 2 pi/%g along a side", MOST, s->to_k);
        report(r, k, "to_k", wrong);
    } else if (list_waves(c, s, NULL) == 0) {
        report(r, k, "to_k", "no wave fits the domain: k = 2 pi sqrt((m/lx)^2 + (n/ly)^2) with whole m and n");
    } else {
        return make_waves(c, s, s->waves);
    }
    return LM_OK;
}

int lm_config_make_spectra(struct lm_config_reader *r)
{
    int status = LM_OK;
    for (int k = 0; k < r->config->spectrum_count && !status && !r->unusable_values; k++)
        status = make_one(r, k);
    return status;
}

void lm_config_free_spectra(struct lm_config *c)
{
    for (int k = 0; k < c->spectrum_count; k++) {
        if (c->spectrum[k].waves)
            free(c->spectrum[k].waves->wave);
        free(c->spectrum[k].waves);
        c->spectrum[k].waves = NULL;
    }
}
