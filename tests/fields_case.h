/* An analytic state of the fields; the cases switch parts of it on and off. */
#ifndef LARMOR_TESTS_FIELDS_CASE_H
#define LARMOR_TESTS_FIELDS_CASE_H

#include <math.h>
#include <string.h>

#include "field_box.h"

static const double LX = 6.0, LY = 4.5;

#define KX (2 * M_PI / LX)

#define KY (2 * M_PI / LY)

static struct {
    double b0, b1, ji, n0, n1, eta0, eta1, eta_hyper, temperature, gamma;
} state;

static inline double bx(double x, double y)
{
    return 0.7 * state.b0 + state.b1 * sin(KX * x + 0.3) * cos(KY * y);
}

static inline double by(double x, double y)
{
    return -0.4 * state.b0 + state.b1 * cos(KX * x) * sin(KY * y + 0.2);
}

static inline double bz(double x, double y)
{
    return 0.5 * state.b0 + state.b1 * cos(KX * x + 0.1) * cos(KY * y - 0.4);
}

static inline double jix(double x, double y)
{
    return state.ji * (0.3 + cos(KX * x) * sin(KY * y));
}

static inline double jiy(double x, double y)
{
    return state.ji * (-0.2 + sin(KX * x) * sin(KY * y + 1));
}

static inline double jiz(double x, double y)
{
    return state.ji * (0.5 + sin(KX * x + 2) * cos(KY * y));
}

static inline double density(double x, double y)
{
    return state.n0 + state.n1 * sin(KX * x) * cos(KY * y + 0.5);
}

static inline double eta(double x, double y)
{
    return state.eta0 + state.eta1 * sin(KX * x + 1) * sin(KY * y);
}

static inline double jx(double x, double y)
{
    return along(bz, 1, x, y);
}

static inline double jy(double x, double y)
{
    return -along(bz, 0, x, y);
}

static inline double jz(double x, double y)
{
    return along(by, 0, x, y) - along(bx, 1, x, y);
}

static const function b_of[3] = {bx, by, bz}, ji_of[3] = {jix, jiy, jiz}, j_of[3] = {jx, jy, jz};

static inline struct lm_ohm ohm_of_state(void)
{
    return (struct lm_ohm){
        .eta_hyper = state.eta_hyper, .floor = 1e-3, .temperature = state.temperature, .gamma = state.gamma};
}

static inline void put_state(struct box *x)
{
    const double centre[2] = {0, 0};
    for (int d = 0; d < 3; d++) {
        box_put(x, LM_B + d, b_place[d], b_of[d]);
        box_put(x, LM_J_OLD + d, centre, ji_of[d]);
    }
    box_put(x, LM_N_OLD, centre, density);
    box_put(x, LM_ETA, centre, eta);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD, 0.0);
}

static const struct {
    const char *name;
    double b0, b1, ji, n0, n1, eta0, eta1, eta_hyper, temperature, gamma;
} terms[] = {
    {"convection", 1, 0, 1, 1, .3, 0, 0, 0, 0, 1},      {"Hall", 1, .3, 0, 1, .3, 0, 0, 0, 0, 1},
    {"isothermal", 0, 0, 0, 1, .3, 0, 0, 0, .7, 1},     {"polytropic", 0, 0, 0, 1, .3, 0, 0, 0, .7, 5.0 / 3},
    {"uniform eta", 0, .3, 0, 1e13, 0, .2, 0, 0, 0, 1}, {"eta profile", 0, .3, 0, 1e13, 0, .2, .1, 0, 0, 1},
    {"eta_hyper", 0, .3, 0, 1e13, 0, 0, 0, .05, 0, 1},  {"all", 1, .3, 1, 1, .3, .2, .1, .05, .7, 1.4},
};

enum { TERMS = sizeof terms / sizeof *terms };

static inline void select_term(int k)
{
    memcpy(&state, (const char *)&terms[k] + offsetof(__typeof__(terms[0]), b0), sizeof state);
}

static const double FLOOR = 0.9;

static inline double one(double x, double y)
{
    return 1 + 0 * (x + y);
}

static inline void make_box_with_floor(struct box *x, struct lm_ohm ohm, int smoothing)
{
    ohm.floor = FLOOR;
    *x = box_new(24, 18, LX, LY, ohm, smoothing);
    put_state(x);
    x->b->ops->ohm(x->b, LM_OHM_OLD);
}

#endif
