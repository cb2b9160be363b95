/* What Ohm's law must not do to the energy, whatever the density: of random fields, moments and densities, with voids.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_box.h"
#include "fields_case.h"
#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/fields.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "suite.h"

enum { NX = 20, NY = 14 };

static const struct lm_ohm bare = {.floor = 0.05, .few = INFINITY, .gamma = 1};
static uint64_t randomness;

static double uniform(double low, double high)
{
    randomness = randomness * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(randomness >> 11) * 0x1p-53;
}

static void put_random(struct box *x, int array, double low, double high)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            x->work[lm_at(&x->g, i, j)] = uniform(low, high);
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, array, x->work);
}

/* Densities between a tenth of the floor and 2, evenly in the logarithm: more than a third of them is below the floor.
 * There are no voids, where ions feel no motional field. */
static void put_random_density(struct box *x)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            x->work[lm_at(&x->g, i, j)] = exp(uniform(log(LM_VOID_SHARE * x->b->setup.ohm.floor), log(2)));
    lm_grid_wrap(&x->g, x->work);
    x->b->ops->put(x->b, LM_N_OLD, x->work);
    x->b->ops->put(x->b, LM_N_NEW, x->work);
}

/* B, and an ion current of this size. */
static struct box random_box(struct lm_ohm ohm, double current)
{
    struct box x = box_new(NX, NY, 5, 4, ohm, 0);
    for (int d = 0; d < 3; d++) {
        put_random(&x, LM_B + d, -1, 1);
        put_random(&x, LM_J_OLD + d, -current, current);
        put_random(&x, LM_J_NEW + d, -current, current);
    }
    put_random_density(&x);
    return x;
}

struct vectors {
    double *a[3];
};

static struct vectors get_vector(const struct box *x, int array)
{
    return (struct vectors){{box_get(x, array), box_get(x, array + 1), box_get(x, array + 2)}};
}

static void free_vector(struct vectors *v)
{
    for (int d = 0; d < 3; d++)
        free(v->a[d]);
}

static struct lm_view view_at(const struct box *x, const struct vectors *v, size_t k)
{
    return (struct lm_view){v->a[0] + k, v->a[1] + k, v->a[2] + k, x->g.stride};
}

/* J = curl B in all cells and their images. */
static struct vectors current_of(const struct box *x, const struct vectors *b)
{
    struct vectors j;
    for (int d = 0; d < 3; d++)
        j.a[d] = calloc(x->g.size, sizeof *j.a[d]);
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x->g, i, y);
            const struct lm_vector c = lm_curl_b(view_at(x, b, k), 1 / x->g.dx, 1 / x->g.dy);
            j.a[0][k] = c.x, j.a[1][k] = c.y, j.a[2][k] = c.z;
        }
    for (int d = 0; d < 3; d++)
        lm_grid_wrap(&x->g, j.a[d]);
    return j;
}

/* The sum of J E over the nodes, and of |J E|. */
static double work_on(const struct box *x, const struct vectors *j, const struct vectors *e, double *size)
{
    double sum = 0;
    *size = 0;
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++)
            for (int d = 0; d < 3; d++) {
                const size_t k = lm_at(&x->g, i, y);
                sum += j->a[d][k] * e->a[d][k];
                *size += fabs(j->a[d][k] * e->a[d][k]);
            }
    return sum;
}

/* The sum of J_i (J x B) / n over the centres: what the Hall term gives to the ions. */
static double hall_work_on_ions(const struct box *x, const struct vectors *j, const struct vectors *b)
{
    struct vectors ji = get_vector(x, LM_J_OLD);
    double *n = box_get(x, LM_FLOORED), sum = 0;
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x->g, i, y);
            const struct lm_vector still = {0, 0, 0}, centre = lm_b_centre(view_at(x, b, k));
            const struct lm_motional m = lm_motional_field(view_at(x, j, k), view_at(x, b, k), still, 1 / n[k]);
            const struct lm_vector f = lm_with_slip(m.field, m.slip, centre.x, centre.y);
            sum += ji.a[0][k] * f.x + ji.a[1][k] * f.y + ji.a[2][k] * f.z;
        }
    free_vector(&ji);
    free(n);
    return sum;
}

/* Without ion current E is that of the Hall term, which neither gives energy to B nor takes it. With one, B loses what
 * the Hall term gives to the ions. */
START_TEST(hall_term_does_no_work_on_b)
{
    double size;
    randomness = 11 + (uint64_t)_i;
    struct box x = random_box(bare, _i % 2 ? 0.7 : 0);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    struct vectors b = get_vector(&x, LM_B), e = get_vector(&x, LM_E), j = current_of(&x, &b);
    const double lost = work_on(&x, &j, &e, &size), gained = hall_work_on_ions(&x, &j, &b);
    ck_assert_double_gt(size, 1);
    ck_assert_double_lt(fabs(lost - gained), 1e-13 * size);
    if (_i % 2)
        ck_assert_double_gt(fabs(gained), 1e-5 * size);
    free_vector(&b), free_vector(&e), free_vector(&j);
    box_free(&x);
}
END_TEST

/* B in the plane without divergence: the curl of random numbers at the centres, and a constant. */
static void put_random_b_in_plane(struct box *x)
{
    double *a = calloc(x->g.size, sizeof *a);
    put_random(x, LM_B, -0.1, 0.1);
    memcpy(a, x->work, x->g.size * sizeof *a);
    for (int d = 0; d < 2; d++) {
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++) {
                const size_t k = lm_at(&x->g, i, j);
                x->work[k] = d == 0 ? 0.4 + lm_diff_up(a + k, x->g.stride, 1 / x->g.dy)
                                    : -0.7 - lm_diff_up(a + k, 1, 1 / x->g.dx);
            }
        lm_grid_wrap(&x->g, x->work);
        x->b->ops->put(x->b, LM_B + d, x->work);
    }
    free(a);
}

/* The sum of n f + J_i x B over the centres, with f and B that the ions feel, in units of the sum of its sizes. */
static void force_on_ions(const struct box *x, double force[3])
{
    struct vectors ji = get_vector(x, LM_J_OLD), e = get_vector(x, LM_PUSH_E), b = get_vector(x, LM_PUSH_B);
    double *n = box_get(x, LM_FLOORED), size = 0;
    force[0] = force[1] = force[2] = 0;
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x->g, i, y);
            for (int d = 0; d < 3; d++) {
                const int p = (d + 1) % 3, q = (d + 2) % 3;
                const double term = n[k] * e.a[d][k] + ji.a[p][k] * b.a[q][k] - ji.a[q][k] * b.a[p][k];
                force[d] += term;
                size += fabs(term);
            }
        }
    for (int d = 0; d < 3; d++)
        force[d] /= size;
    free_vector(&ji), free_vector(&e), free_vector(&b);
    free(n);
}

/* The fields give no momentum to the ions of a periodic box where B has no divergence, with and without ion current. */
START_TEST(fields_give_no_momentum)
{
    double force[3];
    randomness = 21 + (uint64_t)_i;
    struct box x = random_box(bare, _i % 2 ? 0.7 : 0);
    put_random_b_in_plane(&x);
    x.b->ops->ohm(x.b, LM_OHM_OLD);
    force_on_ions(&x, force);
    for (int d = 0; d < 3; d++)
        ck_assert_double_lt(fabs(force[d]), 1e-14);
    box_free(&x);
}
END_TEST

static double energy_of_b(const struct box *x)
{
    struct vectors b = get_vector(x, LM_B);
    double sum = 0;
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++)
            for (int d = 0; d < 3; d++)
                sum += 0.5 * pow(b.a[d][lm_at(&x->g, i, y)], 2);
    free_vector(&b);
    return sum;
}

/* B between ions at rest keeps its energy. The Runge-Kutta method loses some, of fifth order in the step. */
START_TEST(whistlers_keep_their_energy)
{
    double lost[2];
    for (int k = 0; k < 2; k++) {
        randomness = 5;
        struct box x = random_box(bare, 0);
        const double before = energy_of_b(&x);
        x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
        x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_NEW, 2e-3, 16 << k, 0, LM_NO_MEAN, 0, 0});
        lost[k] = before - energy_of_b(&x);
        ck_assert_double_lt(fabs(lost[k]), 1e-4 * before);
        box_free(&x);
    }
    ck_assert_double_gt(lost[0], 20 * lost[1]);
}
END_TEST

static const double gammas[] = {1, 1.4, 5.0 / 3, 2, 3};
enum { GAMMAS = sizeof gammas / sizeof *gammas };

/* A pressure that follows from the density makes an E without curl, and no B. */
START_TEST(pressure_of_density_has_no_curl)
{
    struct lm_ohm ohm = bare;
    ohm.temperature = 0.8, ohm.gamma = gammas[_i];
    randomness = 3;
    struct box x = random_box(ohm, 0.5);
    double largest = 0, curl = 0, *e[2] = {box_get(&x, LM_PRESSURE_E), box_get(&x, LM_PRESSURE_E + 1)};
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++) {
            const size_t k = lm_at(&x.g, i, y);
            largest = fmax(largest, fabs(e[0][k]));
            curl = fmax(curl, fabs(lm_battery(e[0] + k, e[1] + k, x.g.stride, 1 / x.g.dx, 1 / x.g.dy)));
        }
    ck_assert_double_gt(largest, 1);
    ck_assert_double_lt(curl, 1e-14 * largest / pow(x.g.dx, 2));
    for (int d = 0; d < 3; d++)
        put_random(&x, LM_B + d, 0, 0);
    x.b->ops->closure(x.b, LM_N_OLD, LM_N_NEW, 0.0);
    x.b->ops->advance_b(x.b, &(const struct lm_b_step){LM_J_NEW, 0.1, 3, 0, LM_NO_MEAN, 0, 0});
    ck_assert_double_eq(energy_of_b(&x), 0);
    free(e[0]), free(e[1]);
    box_free(&x);
}
END_TEST

/* The logarithm of a ratio, also where the quick way for nearly equal numbers ends; a common power of two changes no
 * bit.
 */
START_TEST(logarithm_of_a_ratio)
{
    randomness = 8;
    for (int k = 0; k < 100000; k++) {
        const double a = exp(uniform(-3, 3)), b = k % 2 ? a * (1 + uniform(-0.3, 0.4)) : exp(uniform(-3, 3));
        const long double want = log1pl(((long double)a - b) / b);
        require_near(lm_log_ratio(a, b), (double)want, 5e-16 * fabsl(want));
        require(lm_log_ratio(1024 * a, 1024 * b) == lm_log_ratio(a, b));
    }
}
END_TEST

/* The enthalpy, whose gradient is the force on the ions, is the derivative of the energy, above its least density and
 * below. */
START_TEST(enthalpy_is_the_derivative_of_the_energy)
{
    struct lm_ohm o = bare;
    o.temperature = 0.8, o.gamma = gammas[_i];
    for (double n = 1e-4; n < 3; n *= 1.3) {
        const double h = 1e-5 * n, slope = (lm_electron_energy(n + h, &o) - lm_electron_energy(n - h, &o)) / (2 * h),
                     want = lm_enthalpy(lm_max(n, lm_least_push_density(&o)), &o);
        ck_assert_double_eq_tol(slope, want, 1e-8 * (1 + fabs(want)));
    }
}
END_TEST

/* --- an evolved pressure --- */

static struct lm_ohm evolved_with(double gamma)
{
    struct lm_ohm o = bare;
    o.gamma = gamma, o.evolved = 1, o.alfven_floor = 0.4;
    return o;
}

/* The E that a pressure adds between two cells: in Faraday's law where the pressure is evolved. */
static double field_between(double na, double nb, double pa, double pb, const struct lm_ohm *o)
{
    const double n[2] = {na, nb}, p[2] = {pa, pb},
                 h[2] = {lm_pressure_potential(na, 0, o), lm_pressure_potential(nb, 0, o)};
    return o->evolved ? lm_battery_field(h, p, n, 0, 1, 1, o) : lm_pressure_field(h, p, n, 0, 1, 1, o);
}

/* Where p ~ n^gamma an evolved pressure does in Faraday's law what the same polytropic one does, nothing; where n is
 * uniform E has a potential, -p/n. */
START_TEST(evolved_pressure_is_a_gradient_where_it_can_be)
{
    const double gamma = gammas[1 + _i];
    const struct lm_ohm evolved = evolved_with(gamma);
    struct lm_ohm polytropic = evolved;
    polytropic.evolved = 0, polytropic.temperature = 0.8;
    randomness = 9;
    for (int k = 0; k < 1000; k++) {
        const double a = exp(uniform(-4, 1)), b = k % 2 ? a * (1 + uniform(-0.06, 0.06)) : exp(uniform(-4, 1));
        const double got = field_between(a, b, 0.8 * pow(a, gamma), 0.8 * pow(b, gamma), &evolved);
        const double want = field_between(a, b, 0, 0, &polytropic), p = uniform(0, 2), q = uniform(0, 2);
        ck_assert_double_eq_tol(got, want, 1e-13 * lm_pressure_potential(fmax(a, b), 0, &polytropic));
        ck_assert_double_eq_tol(field_between(a, a, p, q, &evolved), (p - q) / a, 1e-13 / a);
    }
}
END_TEST

/* The mean of two densities lies between them, does not depend on their order, and the series for nearly equal ones
 * joins the quotient. */
START_TEST(mean_density_is_a_mean)
{
    const double gamma = gammas[1 + _i];
    const struct lm_ohm o = evolved_with(gamma);
    randomness = 4;
    for (int k = 0; k < 1000; k++) {
        const double a = exp(uniform(-4, 1)), b = a * (1 + pow(10, uniform(-6, 1)));
        const double pa = lm_pressure_potential(a, 0, &o), pb = lm_pressure_potential(b, 0, &o);
        const double mean = lm_mean_density(a, b, pa, pb, gamma);
        ck_assert(mean > a && mean < b);
        ck_assert_double_eq_tol(mean, lm_mean_density(b, a, pb, pa, gamma), 1e-13 * mean);
    }
    const double b = 1.02 / 0.98, sides[2] = {b * (1 - 1e-10), b * (1 + 1e-10)};
    double mean[2];
    for (int k = 0; k < 2; k++)
        mean[k] = lm_mean_density(1, sides[k], 1, lm_pressure_potential(sides[k], 0, &o), gamma) - 0.5 * sides[k];
    ck_assert_double_eq_tol(mean[0], mean[1], 1e-11);
}
END_TEST

/* --- the heat of mixing --- */

static struct box box_with_entropy(double gamma)
{
    const struct lm_grid g = lm_grid_make(NX, NY, 5, 4);
    struct lm_setup setup = box_setup(&g, evolved_with(gamma), 0);
    setup.background_count = 1;
    setup.background[0] =
        (struct lm_background){.flow = LM_FLOW_ENTROPY, .scheme = LM_WENO5, .limited = 1, .most = INFINITY};
    struct box x = box_of(&setup);
    for (int d = 0; d < 3; d++) {
        put_random(&x, LM_B + d, -1, 1);
        put_random(&x, LM_J_NEW + d, -0.7, 0.7);
    }
    put_random_density(&x);
    put_random(&x, LM_BACKGROUND, 0.1, 1);
    return x;
}

/* An evolved pressure gives no momentum to the ions of a periodic box, whatever n and p do from cell to cell. */
START_TEST(evolved_pressure_gives_no_momentum)
{
    randomness = 41;
    struct box x = box_with_entropy(gammas[1 + _i]);
    struct vectors e[2];
    for (int k = 0; k < 2; k++) {
        if (k == 1)
            put_random(&x, LM_BACKGROUND, 0, 0);
        x.b->ops->ohm(x.b, LM_OHM_OLD);
        e[k] = get_vector(&x, LM_PUSH_E);
    }
    double *n = box_get(&x, LM_N_OLD);
    for (int d = 0; d < 2; d++) {
        double force = 0, size = 0;
        for (int y = 0; y < NY; y++)
            for (int i = 0; i < NX; i++) {
                const size_t k = lm_at(&x.g, i, y);
                force += n[k] * (e[0].a[d][k] - e[1].a[d][k]);
                size += n[k] * fabs(e[0].a[d][k] - e[1].a[d][k]);
            }
        ck_assert_double_gt(size, 1);
        ck_assert_double_lt(fabs(force), 1e-13 * size);
    }
    free_vector(&e[0]), free_vector(&e[1]);
    free(n);
    box_free(&x);
}
END_TEST

static double energy_of_electrons(const struct box *x, double gamma)
{
    double *s = box_get(x, LM_BACKGROUND), sum = 0;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            sum += pow(s[lm_at(&x->g, i, j)], gamma) / (gamma - 1);
    free(s);
    return sum;
}

/* What the pressure gives to the ions and to B, J_i E - J E, over the faces. The force on the ions and that on B have
 * different least densities, and thin plasma counts as denser in the one on B. */
static double work_of_pressure(const struct box *x, double gamma)
{
    const struct lm_ohm o = evolved_with(gamma);
    const double least[2] = {lm_least_push_density(&o), o.floor}, r[2] = {1 / x->g.dx, 1 / x->g.dy};
    struct vectors b = get_vector(x, LM_B), ji = get_vector(x, LM_J_NEW), j = current_of(x, &b);
    const struct lm_view at = {b.a[0], b.a[1], b.a[2], x->g.stride};
    double *n[2] = {box_get(x, LM_N_OLD), box_get(x, LM_N_OLD)}, *p = box_get(x, LM_BACKGROUND), *h[2], sum = 0;
    lm_grid_wrap(&x->g, p);
    for (size_t k = 0; k < x->g.size; k++)
        p[k] = pow(p[k], gamma);
    for (int y = 0; y <= NY; y++)
        for (int i = 0; i <= NX; i++) {
            const size_t k = lm_at(&x->g, i, y);
            n[1][k] = lm_counted_density(lm_floored(n[1][k], &o), lm_view_at(at, (long)k), &o);
        }
    for (int m = 0; m < 2; m++) {
        h[m] = malloc(x->g.size * sizeof *h[m]);
        for (size_t k = 0; k < x->g.size; k++)
            h[m][k] = lm_pressure_potential(n[m][k], least[m], &o);
    }
    for (int y = 0; y < NY; y++)
        for (int i = 0; i < NX; i++)
            for (int axis = 0; axis < 2; axis++) {
                const size_t k = lm_at(&x->g, i, y);
                const int s = axis == 0 ? 1 : x->g.stride;
                const double push = lm_pressure_field(h[0] + k, p + k, n[0] + k, least[0], s, r[axis], &o),
                             faraday = lm_battery_field(h[1] + k, p + k, n[1] + k, least[1], s, r[axis], &o);
                sum += lm_interp_up(ji.a[axis] + k, s) * push - j.a[axis][k] * faraday;
            }
    free_vector(&b), free_vector(&ji), free_vector(&j);
    free(n[0]), free(n[1]), free(p), free(h[0]), free(h[1]);
    return sum;
}

/* The rate at which the electrons gain energy in a step of dt. `later`: the heat comes after the advection. */
static double gain_of_electrons(double gamma, int later, double dt)
{
    randomness = 31;
    struct box x = box_with_entropy(gamma);
    const double before = energy_of_electrons(&x, gamma);
    x.b->ops->flow(x.b, later);
    x.b->ops->advect(x.b, 0, 49, dt, 1);
    const double gain = energy_of_electrons(&x, gamma) - before;
    box_free(&x);
    return gain / dt;
}

/* The electrons lose what their pressure gives to ions and B, whatever the density and the entropy do from cell to
 * cell. Steps of dt, dt/2 and dt/4 extrapolate the rate to dt = 0. */
START_TEST(electrons_lose_the_work_of_their_pressure)
{
    const double gamma = gammas[1 + _i / 2], dt = 1e-6;
    randomness = 31;
    struct box x = box_with_entropy(gamma);
    const double work = work_of_pressure(&x, gamma);
    double rate[3];
    for (int k = 0; k < 3; k++)
        rate[k] = gain_of_electrons(gamma, _i % 2, dt / (1 << k));
    const double first = 2 * rate[1] - rate[0], second = 2 * rate[2] - rate[1], gain = (4 * second - first) / 3;
    ck_assert_double_gt(fabs(work), 1);
    ck_assert_double_lt(fabs(work + gain), 1e-7 * fabs(work));
    box_free(&x);
}
END_TEST

/* Where p is uniform nothing is heated, whatever the density does: a jump of T_e keeps its entropy to the bit. */
START_TEST(uniform_pressure_is_not_heated)
{
    struct box x = box_with_entropy(5.0 / 3);
    struct lm_control control;
    put_random(&x, LM_BACKGROUND, 0.5, 0.5);
    x.b->ops->flow(x.b, 0);
    x.b->ops->advect(x.b, 0, 49, 1e-5, 1);
    ck_assert_int_eq(x.b->ops->control(x.b, &control), LM_OK);
    ck_assert(lm_wide_value(control.background[0].source) == 0);
    box_free(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy of the fields");
    TCase *t = tcase_create("energy of the fields");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, hall_term_does_no_work_on_b, 0, 6);
    tcase_add_loop_test(t, fields_give_no_momentum, 0, 6);
    tcase_add_test(t, whistlers_keep_their_energy);
    tcase_add_loop_test(t, pressure_of_density_has_no_curl, 0, GAMMAS);
    tcase_add_test(t, logarithm_of_a_ratio);
    tcase_add_loop_test(t, enthalpy_is_the_derivative_of_the_energy, 0, GAMMAS);
    tcase_add_loop_test(t, evolved_pressure_is_a_gradient_where_it_can_be, 0, GAMMAS - 1);
    tcase_add_loop_test(t, mean_density_is_a_mean, 0, GAMMAS - 1);
    tcase_add_loop_test(t, evolved_pressure_gives_no_momentum, 0, GAMMAS - 1);
    tcase_add_loop_test(t, electrons_lose_the_work_of_their_pressure, 0, 2 * (GAMMAS - 1));
    tcase_add_test(t, uniform_pressure_is_not_heated);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
