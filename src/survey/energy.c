#include "survey/energy.h"

#include <math.h>

#include "survey/parts.h"

static double area_of(const struct lm_survey *s)
{
    return s->at.dx * s->at.dy;
}

void lm_survey_add_ions(struct lm_survey *s, int species, const struct lm_loading *l)
{
    const double mass = s->config->species[species].mass;
    for (int j = 0; j < s->at.ny; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            const double here = lm_survey_is_plasma(s, i, j) ? mass * lm_given_at(&l->density, k) * area_of(s) : 0;
            s->energy.mass += here;
            for (int d = 0; d < 3; d++) {
                const double v = lm_given_at(&l->drift[d], k);
                s->energy.momentum[d] += here * v;
                s->energy.kinetic += 0.5 * here * (v * v + lm_given_at(&l->temperature[d], k));
            }
        }
}

void lm_survey_add_magnetic(struct lm_survey *s, double *const b[3])
{
    for (int d = 0; d < 3; d++) {
        double sum = 0, squares = 0;
        for (int j = 0; j < s->at.ny; j++)
            for (int i = 0; i < s->at.nx; i++) {
                const double v = b[d][lm_at(&s->at, i, j)];
                sum += v;
                squares += v * v;
            }
        const double mean = sum / (double)s->at.cells;
        for (int j = 0; j < s->at.ny; j++)
            for (int i = 0; i < s->at.nx; i++) {
                const double from = b[d][lm_at(&s->at, i, j)] - mean;
                s->energy.varying += 0.5 * from * from * area_of(s);
            }
        s->energy.magnetic += 0.5 * squares * area_of(s);
    }
}

int lm_survey_add_electrons(struct lm_survey *s, const double *n, double *work)
{
    const struct lm_config *p = s->points;
    const int has_profile = p->electrons.closure == LM_EVOLVED && p->electrons.initial_temperature[0];
    const double gamma = p->electrons.closure == LM_ISOTHERMAL ? 1 : p->electrons.gamma;
    const struct lm_cell_offset centre = {0, 0};
    const int status =
        has_profile ? lm_expr_fill(p->names, p->electrons.initial_temperature, &s->at, centre, work) : LM_OK;
    for (int j = 0; j < s->at.ny && !status; j++)
        for (int i = 0; i < s->at.nx; i++) {
            const size_t k = lm_at(&s->at, i, j);
            const double here = lm_survey_is_plasma(s, i, j) ? n[k] : 0;
            const double pressure = has_profile ? here * work[k] : p->electrons.temperature * pow(here, gamma);
            s->energy.electrons += pressure * area_of(s);
        }
    return status;
}

void lm_check_energy(const struct lm_survey *s, FILE *out)
{
    const struct lm_config *c = s->config;
    char why[LM_ENERGY_WHY];
    const enum lm_energy_judged judged = lm_energy_judge(c, why);
    const double scale = lm_energy_scale(c, &s->energy);
    fprintf(out, "energy\n");
    if (judged == LM_ENERGY_NOT || !(scale > 0)) {
        fprintf(out, "  not judged: %s\n", judged == LM_ENERGY_NOT ? why : "the plasma has no energy at the start");
        return;
    }
    fprintf(out, "  the run warns of %s beyond %.4g %% (run.energy_limit) of %.4g, the energy that can change\n",
            lm_energy_judged_names[judged], 100 * c->run.energy_limit, scale);
    if (why[0])
        fprintf(out, "  a loss is not judged: %s\n", why);
}
