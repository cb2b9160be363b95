/* Ohm's law, Faraday's law, closure and filters of the CPU backend against analytic fields, term by term. */
#include <check.h>

#include "field_box.h"
#include "suite.h"

/* --- an analytic state; the cases switch its parts on and off ----------------------------------------------------- */

static const double LX = 6.0, LY = 4.5;
#define KX (2 * M_PI / LX)
#define KY (2 * M_PI / LY)

static struct {
    double b0, b1, ji, n0, n1, eta0, eta1, eta_hyper, temperature, gamma;
} is;

static double bx(double x, double y)
{
    return 0.7 * is.b0 + is.b1 * sin(KX * x + 0.3) * cos(KY * y);
}
static double by(double x, double y)
{
    return -0.4 * is.b0 + is.b1 * cos(KX * x) * sin(KY * y + 0.2);
}
static double bz(double x, double y)
{
    return 0.5 * is.b0 + is.b1 * cos(KX * x + 0.1) * cos(KY * y - 0.4);
}
static double jix(double x, double y)
{
    return is.ji * (0.3 + cos(KX * x) * sin(KY * y));
}
static double jiy(double x, double y)
{
    return is.ji * (-0.2 + sin(KX * x) * sin(KY * y + 1));
}
static double jiz(double x, double y)
{
    return is.ji * (0.5 + sin(KX * x + 2) * cos(KY * y));
}
static double density(double x, double y)
{
    return is.n0 + is.n1 * sin(KX * x) * cos(KY * y + 0.5);
}
static double eta(double x, double y)
{
    return is.eta0 + is.eta1 * sin(KX * x + 1) * sin(KY * y);
}
static double jx(double x, double y)
{
    return along(bz, 1, x, y);
}
static double jy(double x, double y)
{
    return -along(bz, 0, x, y);
}
static double jz(double x, double y)
{
    return along(by, 0, x, y) - along(bx, 1, x, y);
}
static double pressure(double x, double y)
{
    return is.temperature * pow(density(x, y), is.gamma);
}

static const function b_of[3] = {bx, by, bz}, ji_of[3] = {jix, jiy, jiz}, j_of[3] = {jx, jy, jz};

static double slope(int component, int axis, double x, double y)
{
    return along(j_of[component], axis, x, y);
}

/* Second derivative of J through its first ones. */
static double laplacian(int c, double x, double y)
{
    const double h = 0.02;
    double d = 0;
    for (int axis = 0; axis < 2; axis++) {
        double ax = axis ? 0 : h, ay = axis ? h : 0;
        d += (0.75 * (slope(c, axis, x + ax, y + ay) - slope(c, axis, x - ax, y - ay)) -
              0.15 * (slope(c, axis, x + 2 * ax, y + 2 * ay) - slope(c, axis, x - 2 * ax, y - 2 * ay)) +
              (slope(c, axis, x + 3 * ax, y + 3 * ay) - slope(c, axis, x - 3 * ax, y - 3 * ay)) / 60) /
             h;
    }
    return d;
}

static double e_of(int c, double x, double y)
{
    int p = (c + 1) % 3, q = (c + 2) % 3;
    double force = (j_of[p](x, y) - ji_of[p](x, y)) * b_of[q](x, y) - (j_of[q](x, y) - ji_of[q](x, y)) * b_of[p](x, y);
    double gradient = c < 2 ? along(pressure, c, x, y) : 0;
    double e = (force - gradient) / density(x, y) + eta(x, y) * j_of[c](x, y);
    return is.eta_hyper > 0 ? e - is.eta_hyper * laplacian(c, x, y) : e;
}

static double ex(double x, double y)
{
    return e_of(0, x, y);
}
static double ey(double x, double y)
{
    return e_of(1, x, y);
}
static double ez(double x, double y)
{
    return e_of(2, x, y);
}
static double rate_x(double x, double y)
{
    return -along(ez, 1, x, y);
}
static double rate_y(double x, double y)
{
    return along(ez, 0, x, y);
}
static double rate_z(double x, double y)
{
    return along(ex, 1, x, y) - along(ey, 0, x, y);
}

static const function e_functions[3] = {ex, ey, ez}, rates[3] = {rate_x, rate_y, rate_z};

static struct lm_ohm ohm_of_state(void)
{
    return (struct lm_ohm){.eta_hyper = is.eta_hyper, .floor = 1e-3, .temperature = is.temperature, .gamma = is.gamma};
}

static void put_state(struct box *x)
{
    const double centre[2] = {0, 0};
    for (int d = 0; d < 3; d++) {
        box_put(x, LM_B + d, b_place[d], b_of[d]);
        box_put(x, LM_J_OLD + d, centre, ji_of[d]);
    }
    box_put(x, LM_N_OLD, centre, density);
    box_put(x, LM_ETA, centre, eta);
    x->b->ops->closure(x->b, LM_N_OLD, LM_N_OLD);
}

/* --- Ohm and Faraday, one term at a time -------------------------------------------------------------------------- */

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

static void take_term(int k)
{
    memcpy(&is, (const char *)&terms[k] + offsetof(__typeof__(terms[0]), b0), sizeof is);
}

static void check_order(const char *name, const char *what, int d, const double error[3], double size)
{
    if (size < 1e-9) { /* the term has no such component */
        ck_assert_msg(error[0] < 1e-9, "%s: %s %d should vanish: %g", name, what, d, error[0]);
        return;
    }
    for (int k = 0; k < 2 && error[0] > 1e-12 * size; k++) { /* exact where nothing is averaged */
        double ratio = error[k] / error[k + 1];
        ck_assert_msg(ratio > 3.7 && ratio < 4.4, "%s: %s %d: errors %g -> %g, ratio %g", name, what, d, error[k],
                      error[k + 1], ratio);
    }
    ck_assert_msg(error[2] < 0.02 * size, "%s: %s %d: error %g of %g", name, what, d, error[2], size);
}

START_TEST(ohm_term)
{
    double error[3][3], size[3];
    take_term(_i);
    for (int k = 0; k < 3; k++) {
        struct box x = box_new(16 << k, 12 << k, LX, LY, ohm_of_state(), 0);
        put_state(&x);
        x.b->ops->ohm(x.b, LM_OHM_OLD);
        for (int d = 0; d < 3; d++) {
            double *e = box_get(&x, LM_E + d), *zero = calloc(x.g.size, sizeof *zero);
            error[d][k] = box_error(&x, e, e_place[d], e_functions[d]);
            size[d] = box_error(&x, zero, e_place[d], e_functions[d]);
            free(e), free(zero);
        }
        box_free(&x);
    }
    for (int d = 0; d < 3; d++)
        check_order(terms[_i].name, "E", d, error[d], size[d]);
}
END_TEST

/* (B(dt) - B(0)) / dt for a dt so small that only the error in space is left. */
START_TEST(faraday_term)
{
    const double dt = 1e-6;
    double error[3][3], size[3];
    take_term(_i);
    for (int k = 0; k < 3; k++) {
        struct box x = box_new(16 << k, 12 << k, LX, LY, ohm_of_state(), 0);
        put_state(&x);
        x.b->ops->advance_b(x.b, LM_J_OLD, dt, 1);
        for (int d = 0; d < 3; d++) {
            double *after = box_get(&x, LM_B + d), *zero = calloc(x.g.size, sizeof *zero);
            box_put(&x, LM_B + d, b_place[d], b_of[d]);
            double *before = box_get(&x, LM_B + d);
            for (size_t m = 0; m < x.g.size; m++)
                after[m] = (after[m] - before[m]) / dt;
            error[d][k] = box_error(&x, after, b_place[d], rates[d]);
            size[d] = box_error(&x, zero, b_place[d], rates[d]);
            free(after), free(before), free(zero);
        }
        box_free(&x);
    }
    for (int d = 0; d < 3; d++) {
        if (_i == 2 || _i == 3) /* curl of grad p / n of n alone: nothing */
            ck_assert_msg(error[d][0] < (_i == 2 ? 3e-2 : 5e-2) && error[d][2] < error[d][0] / 8 + 1e-8, "%s: %g %g",
                          terms[_i].name, error[d][0], error[d][2]);
        else
            check_order(terms[_i].name, "dB/dt", d, error[d], size[d]);
    }
}
END_TEST

/* --- in time ------------------------------------------------------------------------------------------------------ */

START_TEST(runge_kutta_is_fourth_order)
{
    double *b[5];
    take_term(TERMS - 1);
    is.eta_hyper = 0.005;
    struct box x = box_new(16, 12, LX, LY, ohm_of_state(), 0);
    for (int k = 0; k < 5; k++) {
        put_state(&x);
        x.b->ops->advance_b(x.b, LM_J_OLD, 0.2, k < 4 ? 16 << k : 512);
        b[k] = box_get(&x, LM_B + 2);
    }
    for (int k = 0; k < 2; k++) {
        double ratio = box_distance(&x, b[k], b[4]) / box_distance(&x, b[k + 1], b[4]);
        ck_assert_msg(ratio > 13 && ratio < 20, "%d substeps: ratio %g", 16 << k, ratio);
    }
    for (int k = 0; k < 5; k++)
        free(b[k]);
    box_free(&x);
}
END_TEST

/* Resistive decay of one mode: exp(-eta k^2 t) with the grid's k^2. */
static double shear(double x, double y)
{
    return 0 * y + sin(KX * x);
}

START_TEST(resistive_decay)
{
    is = (__typeof__(is)){.n0 = 1e13, .eta0 = 0.1, .gamma = 1, .eta_hyper = _i ? 0.03 : 0};
    struct box x = box_new(24, 5, LX, LY, ohm_of_state(), 0);
    put_state(&x);
    box_put(&x, LM_B + 1, b_place[1], shear);
    double *before = box_get(&x, LM_B + 1);
    x.b->ops->advance_b(x.b, LM_J_OLD, 2, 400);
    double *after = box_get(&x, LM_B + 1);
    double k2 = pow(2 / x.g.dx * sin(0.5 * KX * x.g.dx), 2), factor = exp(-2 * k2 * (0.1 + is.eta_hyper * k2));
    for (size_t k = 0; k < x.g.size; k++)
        require_near(after[k], factor * before[k], 1e-10);
    free(before), free(after);
    box_free(&x);
}
END_TEST

static double potential(double x, double y)
{
    return sin(KX * x) * cos(2 * KY * y) + 0.3 * cos(3 * KX * x + KY * y);
}

START_TEST(b_stays_free_of_divergence)
{
    take_term(TERMS - 1);
    struct box x = box_new(19, 14, LX, LY, ohm_of_state(), 0);
    const double centre[2] = {0, 0};
    put_state(&x);
    box_put(&x, LM_E, centre, potential);
    double *a = box_get(&x, LM_E), *f = calloc(x.g.size, sizeof *f);
    size_t s = (size_t)x.g.stride;
    for (int d = 0; d < 2; d++) {
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++) {
                size_t k = lm_at(&x.g, i, j);
                f[k] = d == 0 ? (a[k + s] - a[k]) / x.g.dy : -(a[k + 1] - a[k]) / x.g.dx;
            }
        lm_grid_wrap(&x.g, f);
        x.b->ops->put(x.b, LM_B + d, f);
    }
    struct lm_grid_sums sums;
    x.b->ops->grid_sums(x.b, &sums);
    double start = sums.div_b;
    x.b->ops->advance_b(x.b, LM_J_OLD, 4, 800);
    x.b->ops->grid_sums(x.b, &sums);
    ck_assert_msg(sums.div_b < 1e-12 && start < 1e-13, "div B from %g to %g", start, sums.div_b);
    double *b = box_get(&x, LM_B);
    ck_assert_double_gt(box_distance(&x, b, f), 1e-3); /* it did move */
    box_put(&x, LM_B, centre, potential);
    x.b->ops->grid_sums(x.b, &sums);
    ck_assert_double_gt(sums.div_b, 0.1); /* and the diagnostic can see it */
    free(a), free(f), free(b);
    box_free(&x);
}
END_TEST

/* --- floor, vacuum, friction, filter ------------------------------------------------------------------------------ */

static const double FLOOR = 0.9;

static double clipped(double x, double y)
{
    return fmax(density(x, y), FLOOR);
}

static double pressure_above_floor(double x, double y)
{
    return is.temperature * pow(clipped(x, y), is.gamma);
}

static double one(double x, double y)
{
    return 1 + 0 * (x + y);
}

static void take_with_floor(struct box *x, struct lm_ohm ohm, int smoothing)
{
    ohm.floor = FLOOR;
    *x = box_new(24, 18, LX, LY, ohm, smoothing);
    put_state(x);
    x->b->ops->ohm(x->b, LM_OHM_OLD);
}

/* E below the floor is that of a density clipped at it, to the bit, in every term. */
START_TEST(floor_holds_in_every_term)
{
    const double centre[2] = {0, 0};
    double *e[3], *n;
    struct box x;
    take_term(_i);
    if (is.n0 > 10)
        is.n0 = 1, is.n1 = 0.3;
    take_with_floor(&x, ohm_of_state(), 1);
    for (int d = 0; d < 3; d++)
        e[d] = box_get(&x, LM_E + d);
    n = box_get(&x, LM_FLOORED);
    ck_assert_double_lt(box_error(&x, n, centre, clipped), 1e-15);
    box_put(&x, LM_N_OLD, centre, clipped);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    for (int d = 0; d < 3; d++) {
        double *other = box_get(&x, LM_E + d);
        ck_assert(memcmp(other, e[d], x.g.size * sizeof *other) == 0);
        free(other), free(e[d]);
    }
    free(n);
    box_free(&x);
}
END_TEST

START_TEST(floored_cells_are_counted)
{
    struct box x;
    struct lm_control control;
    take_term(0);
    take_with_floor(&x, ohm_of_state(), 1);
    x.b->ops->field_maxima(x.b);
    x.b->ops->control(x.b, &control);
    int64_t want = 0;
    for (int j = 0; j < x.g.ny; j++)
        for (int i = 0; i < x.g.nx; i++)
            want += density((i + 0.5) * x.g.dx, (j + 0.5) * x.g.dy) < FLOOR;
    ck_assert_int_gt(want, 20);
    ck_assert_int_eq(control.floored, want);
    box_free(&x);
}
END_TEST

/* Whether both cells around the node of E_d of cell (i, j) are at the floor. */
static int is_vacuum(const struct box *x, int d, int i, int j)
{
    const int ni = i + (d == 0), nj = j + (d == 1);
    return density((i + 0.5) * x->g.dx, (j + 0.5) * x->g.dy) <= FLOOR &&
           density((ni + 0.5) * x->g.dx, (nj + 0.5) * x->g.dy) <= FLOOR;
}

/* vacuum = zero_e: without resistivity E is 0 where all cells around are at the floor, and elsewhere what it was. */
START_TEST(vacuum_has_no_field)
{
    struct box x, y;
    take_term(TERMS - 1);
    is.eta0 = is.eta1 = is.eta_hyper = 0;
    struct lm_ohm ohm = ohm_of_state();
    take_with_floor(&x, ohm, 0);
    ohm.zero_vacuum = 1;
    take_with_floor(&y, ohm, 0);
    int empty = 0, full = 0;
    for (int d = 0; d < 3; d++) {
        double *a = box_get(&x, LM_E + d), *b = box_get(&y, LM_E + d);
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++) {
                size_t k = lm_at(&x.g, i, j);
                int vacuum = is_vacuum(&x, d, i, j);
                require(b[k] == (vacuum ? 0 : a[k]));
                empty += vacuum && a[k] != 0, full += !vacuum;
            }
        free(a), free(b);
    }
    ck_assert(empty > 50 && full > 50);
    box_free(&x);
    box_free(&y);
}
END_TEST

/* eta_vacuum does at the floor what the same eta does everywhere, and nothing elsewhere. */
START_TEST(vacuum_resists)
{
    struct box none, vacuum, all;
    take_term(TERMS - 1);
    struct lm_ohm ohm = ohm_of_state();
    take_with_floor(&none, ohm, 0);
    ohm.eta_vacuum = 0.7;
    take_with_floor(&vacuum, ohm, 0);
    ohm.eta_vacuum = 0;
    is.eta0 += 0.7;
    take_with_floor(&all, ohm, 0);
    int empty = 0, full = 0;
    for (int d = 0; d < 3; d++) {
        double *a = box_get(&none, LM_E + d), *b = box_get(&vacuum, LM_E + d), *c = box_get(&all, LM_E + d);
        for (int j = 0; j < none.g.ny; j++)
            for (int i = 0; i < none.g.nx; i++) {
                const size_t k = lm_at(&none.g, i, j);
                const int at_floor = is_vacuum(&none, d, i, j);
                require(at_floor ? fabs(b[k] - c[k]) < 1e-13 : b[k] == a[k]);
                empty += at_floor && fabs(c[k] - a[k]) > 0.01, full += !at_floor;
            }
        free(a), free(b), free(c);
    }
    ck_assert(empty > 50 && full > 50);
    box_free(&none);
    box_free(&vacuum);
    box_free(&all);
}
END_TEST

/* The pressure that is handed out is that of the density at n, whatever the last closure was of. */
START_TEST(pressure_is_of_now)
{
    const double centre[2] = {0, 0};
    struct box x;
    take_term(TERMS - 1);
    take_with_floor(&x, ohm_of_state(), 0);
    box_put(&x, LM_N_NEW, centre, one);
    x.b->ops->closure(x.b, LM_N_NEW, LM_N_NEW);
    double *p = box_get(&x, LM_PRESSURE);
    ck_assert_double_lt(box_error(&x, p, centre, pressure_above_floor), 1e-14);
    ck_assert_double_gt(box_error(&x, p, centre, one), 0.01);
    free(p);
    box_free(&x);
}
END_TEST

/* The survey tells the largest |E| of each component. */
START_TEST(survey_finds_the_largest_e)
{
    static const function e[3] = {jix, jiy, jiz};
    struct lm_control control;
    struct box x;
    take_term(TERMS - 1);
    take_with_floor(&x, ohm_of_state(), 0);
    for (int d = 0; d < 3; d++)
        box_put(&x, LM_PUSH_E + d, e_place[d], e[d]);
    x.b->ops->field_maxima(x.b);
    x.b->ops->control(x.b, &control);
    for (int d = 0; d < 3; d++) {
        double *a = box_get(&x, LM_PUSH_E + d), most = 0;
        for (int j = 0; j < x.g.ny; j++)
            for (int i = 0; i < x.g.nx; i++)
                most = fmax(most, fabs(a[lm_at(&x.g, i, j)]));
        ck_assert_double_eq(control.push_e[d], most);
        free(a);
    }
    ck_assert(control.push_e[0] != control.push_e[1] && control.push_e[1] != control.push_e[2]);
    box_free(&x);
}
END_TEST

/* friction = on: the ions' E is E without eta J and eta_H lap J; off: E itself. */
START_TEST(friction)
{
    struct box on, off, none_at_all;
    take_term(TERMS - 1);
    struct lm_ohm ohm = ohm_of_state();
    take_with_floor(&off, ohm, 0);
    ohm.friction = 1;
    take_with_floor(&on, ohm, 0);
    is.eta0 = is.eta1 = ohm.eta_hyper = 0;
    take_with_floor(&none_at_all, ohm, 0);
    for (int d = 0; d < 3; d++) {
        double *e = box_get(&off, LM_E + d), *push_off = box_get(&off, LM_PUSH_E + d), *same = box_get(&on, LM_E + d);
        double *push_on = box_get(&on, LM_PUSH_E + d), *ideal = box_get(&none_at_all, LM_E + d);
        require(box_distance(&on, e, push_off) == 0 && box_distance(&on, e, same) == 0);
        require(box_distance(&on, push_on, ideal) == 0 && box_distance(&on, e, ideal) > 0.01);
        free(e), free(push_off), free(same), free(push_on), free(ideal);
    }
    box_free(&on);
    box_free(&off);
    box_free(&none_at_all);
}
END_TEST

static int mode_x, mode_y;
static double mode(double x, double y)
{
    return cos(mode_x * KX * x + mode_y * KY * y + 0.3);
}

/* Each pass multiplies a wave by cos^2(kx dx/2) cos^2(ky dy/2); E_z = -J_ix B_y here. */
START_TEST(binomial_filter)
{
    static const int modes[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 3}, {5, 1}, {8, 0}, {0, 6}, {3, 6}};
    const double centre[2] = {0, 0};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        struct box x = box_new(16, 12, LX, LY, (struct lm_ohm){.floor = 0.1, .gamma = 1}, _i);
        mode_x = modes[m][0], mode_y = modes[m][1];
        box_put(&x, LM_B + 1, centre, one);
        box_put(&x, LM_N_OLD, centre, one);
        box_put(&x, LM_J_OLD, centre, mode);
        x.b->ops->closure(x.b, LM_N_OLD, LM_N_OLD);
        x.b->ops->ohm(x.b, LM_OHM_OLD);
        double *e = box_get(&x, LM_E + 2), *push = box_get(&x, LM_PUSH_E + 2);
        double factor = pow(cos(M_PI * mode_x / 16) * cos(M_PI * mode_y / 12), 2 * _i);
        for (size_t k = 0; k < x.g.size; k++)
            require_near(push[k], factor * e[k], 1e-14);
        double *zero = calloc(x.g.size, sizeof *zero);
        require(box_distance(&x, e, zero) > 0.1);
        free(e), free(push), free(zero);
        box_free(&x);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fields");
    TCase *t = tcase_create("fields");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, ohm_term, 0, TERMS);
    tcase_add_loop_test(t, faraday_term, 0, TERMS);
    tcase_add_test(t, runge_kutta_is_fourth_order);
    tcase_add_loop_test(t, resistive_decay, 0, 2);
    tcase_add_test(t, b_stays_free_of_divergence);
    tcase_add_loop_test(t, floor_holds_in_every_term, 0, TERMS);
    tcase_add_test(t, floored_cells_are_counted);
    tcase_add_test(t, vacuum_has_no_field);
    tcase_add_test(t, vacuum_resists);
    tcase_add_test(t, pressure_is_of_now);
    tcase_add_test(t, survey_finds_the_largest_e);
    tcase_add_test(t, friction);
    tcase_add_loop_test(t, binomial_filter, 0, 4);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
