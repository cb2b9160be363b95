/* Ions that exchange heat with electrons whose pressure is evolved: relaxation against theory, budgets, bits, input. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "inside.h"
#include "require.h"
#include "series_row.h"
#include "sim_run.h"
#include "suite.h"
#include "larmor/physics/collisions/ion_electron_heating.h"

static const double GAMMA = 5.0 / 3;

static uint64_t fingerprint(struct lm_sim *sim)
{
    uint64_t print;
    ck_assert_int_eq(lm_sim_fingerprint(sim, &print), LM_OK);
    return print;
}

static struct lm_totals totals_of(struct lm_sim *sim)
{
    struct lm_totals t;
    ck_assert_int_eq(lm_sim_totals(sim, &t), LM_OK);
    return t;
}

/* A species' velocities, x of each, y of each, z of each. */
static double *velocities(struct lm_sim *sim, int species)
{
    const size_t count = sim->count[species];
    const int single = sim->config->particles.precision == LM_SINGLE;
    int64_t *place = malloc(2 * count * sizeof *place);
    double *store = malloc(3 * count * sizeof *store), *out = malloc(3 * count * sizeof *out);
    const struct lm_raw_particles raw = {place, place + count, store, store + count, store + 2 * count};
    void *const v[3] = {raw.vx, raw.vy, raw.vz};
    ck_assert_int_eq(sim->backend->ops->get_particles(sim->backend, species, 0, count, raw), LM_OK);
    for (size_t k = 0; k < 3 * count; k++)
        out[k] = single ? (double)((const float *)v[k / count])[k % count] : ((const double *)v[k / count])[k % count];
    free(place);
    free(store);
    return out;
}

/* Of the ions as they stand: their number, mean velocity, and <v_d^2> - <v_d>^2 times the mass. */
struct ions {
    double number, u[3], t[3];
};

static struct ions ions_of(struct lm_sim *sim, int species)
{
    const size_t count = sim->count[species];
    struct ions out = {.number = (double)count};
    double *v = velocities(sim, species);
    for (size_t d = 0; d < 3; d++) {
        long double sum = 0, sum2 = 0;
        for (size_t k = d * count; k < (d + 1) * count; k++) {
            sum += v[k];
            sum2 += (long double)v[k] * v[k];
        }
        out.u[d] = (double)(sum / count);
        out.t[d] = sim->config->species[species].mass * (double)(sum2 / count - sum * sum / count / count);
    }
    free(v);
    return out;
}

static double mean(const double t[3])
{
    return (t[0] + t[1] + t[2]) / 3;
}

/* --- relaxation: one cell without B, in which no field acts --- */

#define CELL "[run]\nsteps = 100000\ndt = 1\n[grid]\nnx = 1\nny = 1\nlx = 20\nly = 20\n[fields]\nsmoothing = 0\n"

static const struct relaxing {
    const char *text;
    double nu, ti, te, r; /* r: the electrons' heat capacity in the ions' */
    double dt[2], end;
} relaxing[] = {
    {CELL "[electrons]\nclosure = evolved\ntemperature = 0.5\n[species.p]\nparticles_per_cell = 100000\n"
          "temperature = 2\nelectron_exchange = 0.05\n",
     0.05,
     2,
     0.5,
     1,
     {1, 0.25},
     4},
    {CELL
     "[electrons]\nclosure = evolved\ntemperature = 0.2\ngamma = 1.4\n[species.p]\ncharge = 2\nmass = 4\n"
     "density = 0.5\nparticles_per_cell = 200000\ntemperature = 1.2\nelectron_exchange = 0.03\ncollide_every = 2\n",
     0.03,
     1.2,
     0.2,
     1.5 * 0.4 / 2,
     {0.25, 0.0625},
     1.5},
};

/* dT_i/dt = 2 nu n T_e^(-3/2) (T_e - T_i), n = 1; what ions gain electrons lose. */
static void relax_exactly(const struct relaxing *k, double *ti, double *te)
{
    const double h = 1e-5;
    for (int64_t n = 0; n < llround(k->end / h); n++) {
        const double half = *te - 0.5 * h * k->r * 2 * k->nu * pow(*te, -1.5) * (*te - *ti);
        const double middle = *ti + 0.5 * h * 2 * k->nu * pow(*te, -1.5) * (*te - *ti);
        const double gain = h * 2 * k->nu * pow(half, -1.5) * (half - middle);
        *ti += gain;
        *te -= k->r * gain;
    }
}

/* The same in steps of h through which T_e stands still. */
static void relax_in_steps(const struct relaxing *k, double h, double *ti, double *te)
{
    for (int64_t n = 0; n < llround(k->end / h); n++) {
        const double gain = -expm1(-2 * k->nu * h * pow(*te, -1.5)) * (*te - *ti);
        *ti += gain;
        *te -= k->r * gain;
    }
}

/* A variance of N normal numbers is known to sqrt(2/N) of itself, the mean over three axes to sqrt(2/3N); what the
 * ions had at the start counts as they had it, so the noise adds less than that. Five of these are allowed, of the
 * larger temperature. In steps of dt the error is of first order: known, and the smaller steps have the smaller one. */
START_TEST(relaxes)
{
    const struct relaxing *k = &relaxing[_i];
    double error[2], spread = 0;
    for (int fine = 0; fine < 2; fine++) {
        char dt[32];
        snprintf(dt, sizeof dt, "run.dt=%g", k->dt[fine]);
        struct lm_sim *sim = sim_new(k->text, dt);
        const struct ions start = ions_of(sim, 0);
        double ti = mean(start.t), te = k->te, exact_i = ti, exact_e = te;
        ck_assert_double_eq_tol(ti, k->ti, 0.02 * k->ti);
        spread = 5 * fmax(k->ti, k->te) * sqrt(2 / (3 * start.number));
        relax_exactly(k, &exact_i, &exact_e);
        relax_in_steps(k, k->dt[fine] * (double)sim->config->species[0].collide_every, &ti, &te);
        advance(sim, llround(k->end / k->dt[fine]));
        const struct ions end = ions_of(sim, 0);
        double *p = array_of(sim, LM_PRESSURE);
        require_near(mean(end.t), ti, spread);
        require_near(p[lm_at(&sim->grid, 0, 0)], te, k->r * spread);
        for (int d = 0; d < 3; d++)
            require_near(end.t[d], ti, sqrt(3) * spread);
        error[fine] = fabs(mean(end.t) - exact_i);
        require_near(error[fine], fabs(ti - exact_i), spread);
        ck_assert_uint_eq(sim->ledger[0].to_electrons.number, 0);
        free(p);
        sim_free(sim);
    }
    ck_assert_double_gt(error[0], error[1] + spread);
}
END_TEST

/* Ions at rest: all they have after a step is noise, normal and of its own along each axis and for each species. */
START_TEST(noise_is_normal)
{
    static const char text[] =
        CELL "[electrons]\nclosure = evolved\ntemperature = 1\n[species.p]\nparticles_per_cell = 200000\n"
             "density = 0.5\nelectron_exchange = 0.1\n[species.q]\ndensity = 0.5\nmass = 4\n"
             "particles_per_cell = 200000\nelectron_exchange = 0.1\n";
    struct lm_sim *sim = sim_new(text, _i ? "particles.precision=single" : NULL);
    const size_t count = sim->count[0];
    const double n = (double)count, variance = -expm1(-0.2);
    ck_assert_uint_eq(sim->count[1], count);
    advance(sim, 1);
    double *v[2] = {velocities(sim, 0), velocities(sim, 1)};
    for (size_t a = 0; a < 6; a++)
        for (size_t b = 0; b <= a; b++) {
            const double *p = v[a / 3] + a % 3 * count, *q = v[b / 3] + b % 3 * count;
            double product = 0, fourth = 0;
            for (size_t k = 0; k < count; k++) {
                product += p[k] * q[k];
                fourth += pow(p[k], 4);
            }
            const double unit = variance / sqrt((a < 3 ? 1 : 4) * (b < 3 ? 1 : 4));
            require_near(product / n / unit, a == b, 5 * sqrt((a == b ? 2 : 1) / n));
            if (a == b)
                require_near(fourth / n / (unit * unit), 3, 5 * sqrt(96 / n));
        }
    free(v[0]);
    free(v[1]);
    sim_free(sim);
}
END_TEST

/* However long a step is, both temperatures only come nearer to each other. */
START_TEST(long_steps)
{
    struct lm_sim *sim = sim_new(relaxing[0].text, "species.p.electron_exchange=100");
    const double common = 0.5 * (mean(ions_of(sim, 0).t) + 0.5);
    advance(sim, 5);
    double *p = array_of(sim, LM_PRESSURE);
    ck_assert_double_eq_tol(mean(ions_of(sim, 0).t), common, 0.02);
    ck_assert_double_eq_tol(p[lm_at(&sim->grid, 0, 0)], common, 0.02);
    struct row r = row_of(sim);
    ck_assert(value(&r, "electron_exchange_limited_p") == 1);
    free(r.columns);
    free(p);
    sim_free(sim);
}
END_TEST

/* Nothing but the exchange of a step of 1, where n = 1 and T_e = 1 everywhere. */
static void exchange_once(struct lm_sim *sim)
{
    const size_t size = sim->grid.size;
    double *one = malloc(size * sizeof *one);
    for (size_t k = 0; k < size; k++)
        one[k] = 1;
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_N_OLD, one), LM_OK);
    ck_assert_int_eq(sim->backend->ops->put(sim->backend, LM_BACKGROUND, one), LM_OK);
    ck_assert_int_eq(lm_sim_bound_exchange(sim), LM_OK);
    ck_assert_int_eq(lm_sim_pass_all(sim, 0, 0, 1), LM_OK);
    free(one);
}

/* With two or three ions a cell, too, they get the heat of all ions, 3/2 (T_e - T_i)(1 - exp(-2 x)) each, though their
 * velocities relative to the mean of so few are but half or two thirds of that. Their noise has a variance of that
 * share, twice as large where they are two, beside the velocities they have: five standard deviations. */
static const char few_text[] =
    "[run]\nsteps = 1000\ndt = 1\n[grid]\nnx = 200\nny = 200\nlx = 4000\nly = 4000\n[electrons]\nclosure = evolved\n"
    "temperature = 1\n[species.p]\nparticles_per_cell = 2.5\nelectron_exchange = 0.05\ntemperature = 4\n";

START_TEST(few_ions)
{
    struct lm_sim *sim = sim_new(few_text, _i ? NULL : "species.p.temperature=0");
    const double share = -expm1(-0.1), start = mean(ions_of(sim, 0).t), noise = 2 * share;
    exchange_once(sim);
    const struct ions end = ions_of(sim, 0);
    ck_assert_uint_eq(sim->ledger[0].to_electrons.number, 0);
    require_near(mean(end.t) - start, share * (1 - start),
                 5 * sqrt((2 * noise * noise + 4 * noise * start) / (3 * end.number)));
    sim_free(sim);
}
END_TEST

/* One ion a cell on average, anywhere: more than a third of them are alone in theirs, others exchange for them. Where
 * no two are in a cell or beside it, as around 0.736^9 = 0.063 of all cells, nothing is exchanged. That much may be
 * missing, and five standard deviations of noise that is three times as large a share; it would be a quarter if only
 * those in the cell counted. */
START_TEST(lonely_ions)
{
    struct lm_sim *sim = sim_new(few_text, "species.p.particles_per_cell=1");
    double *nu = &((struct lm_config *)sim->config)->species[0].electron_exchange;
    *nu = 1e-30;
    advance(sim, 40); /* they leave the cells they were loaded into, one in each */
    *nu = 0.05;
    const double share = -expm1(-0.1), start = mean(ions_of(sim, 0).t), noise = 3 * share;
    exchange_once(sim);
    const struct ions end = ions_of(sim, 0);
    const double spread = 5 * sqrt((2 * noise * noise + 4 * noise * start) / (3 * end.number));
    const double gain = mean(end.t) - start, expected = share * (1 - start);
    ck_assert_double_gt(expected, -1);
    ck_assert_double_lt(gain, (1 - 0.063) * expected + spread);
    ck_assert_double_gt(gain, expected - spread);
    ck_assert_double_lt(0.063 * fabs(expected) + spread, 0.25 * fabs(expected)); /* tests something */
    sim_free(sim);
}
END_TEST

/* Few ions make T_e noisy; they settle at its mean all the same. Six thousand ions' temperature, averaged over 40 times
 * that do not depend on each other, is known to 0.2 %; the limit is what T_i and T_e differ by without an exchange, as
 * waves and noise exchange heat too: 1.3 %. With the rate of each cell's own T_e it was 6 %. */
START_TEST(settles_at_the_mean)
{
    static const char text[] =
        "[run]\nsteps = 5000\ndt = 0.05\n[grid]\nnx = 20\nny = 20\nlx = 20\nly = 20\n[fields]\nbz = 1\n"
        "[electrons]\nclosure = evolved\ntemperature = 0.5\n[species.p]\ntemperature = 0.5\n"
        "particles_per_cell = 16\nelectron_exchange = 0.1\n";
    struct lm_sim *sim = sim_new(text, NULL);
    double ions = 0, electrons = 0;
    for (int n = 1; n <= 40; n++) {
        advance(sim, 600 + 30 * n);
        ions += mean(ions_of(sim, 0).t) / 40;
        electrons += totals_of(sim).electrons / (1.5 * 400 * 40);
    }
    ck_assert_double_eq_tol(ions / electrons, 1, 0.013);
    sim_free(sim);
}
END_TEST

/* --- what an exchange changes --- */

/* Between two calls of this, particles have been through an exchange and nothing else: what each operation changes. */
static struct {
    const struct lm_backend_ops *real;
    struct lm_backend_ops watched;
    struct lm_sim *sim;
    double energy, most, exchanged; /* sum of what is missing; the largest of a step; what changed hands */
    double momentum[2][3];          /* gained by each species */
} budget;

static double ions_energy(struct lm_sim *sim, int species, double momentum[3])
{
    const double mass = sim->config->species[species].mass * lm_sim_weight(sim, species);
    const struct ions i = ions_of(sim, species);
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        momentum[d] = i.number * mass * i.u[d];
        sum += 0.5 * i.number * (i.t[d] * lm_sim_weight(sim, species) + mass * i.u[d] * i.u[d]);
    }
    return sum;
}

static int watched_exchange(struct lm_backend *b, int species, const struct lm_exchange_pass *pass)
{
    double before[3], after[3];
    const double ions = ions_energy(budget.sim, species, before), electrons = totals_of(budget.sim).electrons;
    const int status = budget.real->exchange(b, species, pass);
    const double gain = ions_energy(budget.sim, species, after) - ions;
    const double missing = totals_of(budget.sim).electrons - electrons + gain;
    budget.energy += missing;
    budget.most = fmax(budget.most, fabs(missing));
    budget.exchanged += fabs(gain);
    for (int d = 0; d < 3; d++)
        budget.momentum[species][d] += after[d] - before[d];
    return status;
}

static void watch(struct lm_sim *sim)
{
    memset(&budget, 0, sizeof budget);
    budget.sim = sim;
    budget.real = sim->backend->ops;
    budget.watched = *sim->backend->ops;
    budget.watched.exchange = watched_exchange;
    sim->backend->ops = &budget.watched;
}

/* --- drifts --- */

/* Few ions that drift fast: their momentum changes by no more than the round-off of the noise, which is of single
 * precision. The forces of noisy fields slow them by less than the thousandth that is allowed here. */
START_TEST(drift_stays)
{
    static const char text[] = "[run]\nsteps = 1000\ndt = 0.05\n[grid]\nnx = 12\nny = 12\nlx = 12\nly = 12\n"
                               "[electrons]\nclosure = evolved\ntemperature = 0.5\n[fields]\nsmoothing = 4\n"
                               "[species.p]\ndrift_x = 3\nparticles_per_cell = 16\ntemperature = 0.5\n"
                               "electron_exchange = 0.3\n";
    struct lm_sim *sim = sim_new(text, NULL);
    const struct ions start = ions_of(sim, 0);
    watch(sim);
    advance(sim, 400);
    const struct ions end = ions_of(sim, 0);
    require_near(end.u[0], start.u[0], 1e-3 * start.u[0]);
    for (int d = 0; d < 3; d++)
        require_near(budget.momentum[0][d], 0, 1e-7 * budget.exchanged);
    sim_free(sim);
}
END_TEST

/* Streams of different charge and mass in the same cell: each keeps its momentum, whatever its temperature becomes. */
START_TEST(streams_stay)
{
    static const char text[] =
        CELL "[electrons]\nclosure = evolved\ntemperature = 2\n[species.p]\ndrift_x = 0.3\nparticles_per_cell = 50\n"
             "density = 0.5\ntemperature = 1\nelectron_exchange = 1\n[species.q]\ndrift_x = -0.3\ndensity = 0.25\n"
             "charge = 2\nmass = 16\nparticles_per_cell = 30\ntemperature = 2\nelectron_exchange = 1\n";
    struct lm_sim *sim = sim_new(text, "run.dt=0.02");
    const struct ions p = ions_of(sim, 0), q = ions_of(sim, 1);
    watch(sim);
    advance(sim, 200);
    ck_assert_double_gt(fabs(mean(ions_of(sim, 0).t) - mean(p.t)), 0.2);
    ck_assert_double_gt(budget.exchanged, 1);
    for (int d = 0; d < 3; d++) {
        require_near(ions_of(sim, 0).u[d], p.u[d], 1e-6);
        require_near(ions_of(sim, 1).u[d], q.u[d], 1e-6);
    }
    sim_free(sim);
}
END_TEST

/* --- budgets --- */

static const char busy_text[] =
    "[run]\nsteps = 1000\ndt = 0.02\n[grid]\nnx = 11\nny = 7\nlx = 11\nly = 7\n[electrons]\nclosure = evolved\n"
    "initial_temperature = 0.5 + 0.3*sin(2*pi*x/lx)\nconductivity = 0.05\n[fields]\nbx = 0.3\n"
    "bz = 0.5 + 0.2*cos(2*pi*x/lx)\neta = 0.01\neta_hyper = 0.02\nsmoothing = 2\n[species.p]\n"
    "particles_per_cell = 30\ntemperature = 0.2\ndrift_y = 0.5*sin(2*pi*x/lx)\nelectron_exchange = 0.3\n"
    "[species.q]\ncharge = 2\nmass = 3\ndensity = 0.2\nparticles_per_cell = 14\ntemperature = 1\n"
    "electron_exchange = 1\ncollide_every = 3\n";

/* A thousand steps of a plasma in motion. Each exchange changes ions and electrons by the same, and the series say by
 * how much; so does the momentum, which is no more than round-off. An entropy is whole quanta: rounding it by half a
 * quantum is all that is missing. */
START_TEST(budgets)
{
    struct lm_sim *sim = sim_new(busy_text, _i ? "particles.precision=single" : NULL);
    const struct lm_totals start = totals_of(sim);
    double none[3], scale = start.electrons, booked[4] = {0};
    for (int s = 0; s < 2; s++)
        scale += ions_energy(sim, s, none);
    watch(sim);
    advance(sim, 1000);
    ck_assert_double_gt(budget.exchanged, scale); /* tests something */
    ck_assert_msg(budget.most < 1e-14 * scale * 2, "largest of a step: %g of %g", budget.most, scale);
    ck_assert_msg(fabs(budget.energy) < 1e-12 * scale, "%g of %g", budget.energy, scale);
    for (int s = 0; s < 2; s++) {
        double v[LM_LEDGER_VALUES];
        lm_ledger_values(&sim->ledger[s], &sim->ledger[s].to_electrons, lm_sim_weight(sim, s),
                         sim->config->species[s].mass, v);
        ck_assert(v[5] != 0);
        for (int d = 0; d < 4; d++)
            booked[d] += v[2 + d];
    }
    for (int d = 0; d < 3; d++) {
        ck_assert(booked[d] != 0);
        require_near(booked[d] + budget.momentum[0][d] + budget.momentum[1][d], 0, 1e-12 * scale);
        for (int k = 0; k < 2; k++)
            require_near(budget.momentum[k][d], 0, 1e-7 * budget.exchanged);
    }
    struct row r = row_of(sim);
    require_near(value(&r, "to_electrons_energy_p") + value(&r, "to_electrons_energy_q"), booked[3], 1e-14 * scale);
    ck_assert(value(&r, "background_electrons_residual") == 0);
    free(r.columns);
    sim_free(sim);
}
END_TEST

/* One cell and no fields: the run's own sum of all energies stays. */
START_TEST(energy_stays)
{
    struct lm_sim *sim = sim_new(relaxing[1].text, "species.p.particles_per_cell=2000");
    struct lm_config *c = (struct lm_config *)sim->config;
    const double start = totals_of(sim).energy;
    c->run.dt = 0.125; /* all temperatures are equal soon, and a step is far below its limit */
    advance(sim, 1000);
    ck_assert_double_eq_tol(totals_of(sim).energy, start, 1e-12 * start);
    ck_assert(sim->ledger[0].to_electrons.v2 != 0);
    sim_free(sim);
}
END_TEST

/* So few ions, so hot electrons for them: cells have not always what is asked of them. They refuse, which is counted,
 * nothing is lost, and no pressure is negative. */
START_TEST(cells_refuse)
{
    char more[64];
    snprintf(more, sizeof more, "particles.precision=%s", _i ? "single" : "double");
    struct lm_config *c;
    struct lm_sim *sim;
    const char *overrides[] = {"run.backend=cpu", "species.p.particles_per_cell=3", "species.q.particles_per_cell=5",
                               "species.p.electron_exchange=30", more};
    make_file("case.ini", busy_text);
    c = calloc(1, sizeof *c);
    ck_assert_msg(!lm_config_read(scratch_path("case.ini"), 5, overrides, c), "%s", lm_error());
    ck_assert_msg(!lm_sim_create(c, &sim) && !lm_sim_start(sim), "%s", lm_error());
    const double scale = totals_of(sim).electrons;
    watch(sim);
    for (int n = 1; n <= 50; n++) {
        advance(sim, n);
        require(sim->background[0].least > 0);
    }
    ck_assert_uint_gt(sim->ledger[0].to_electrons.number, 10);
    ck_assert_double_gt(budget.exchanged, scale);
    ck_assert_msg(fabs(budget.energy) < 1e-12 * scale, "%g of %g", budget.energy, scale);
    sim_free(sim);
}
END_TEST

/* The worst that K ions can get, one all the reach of normal numbers and the others the opposite, with neighbours that
 * are alone: within the bound, and not far from it. */
START_TEST(worst_noise)
{
    const struct lm_exchange e = {.rate = 0.01, .most = 0.3, .mass = 2, .unit = 1};
    const double reach = 9.5653, share = -expm1(-2 * 0.01), bound = LM_EXCHANGE_REACH * sqrt(share / 2);
    double worst = 0;
    for (int k = 2; k < 100; k++) {
        const int64_t sum[LM_SUM_ENERGY] = {k};
        const struct lm_crowd around = {k + 8, k - 1};
        const struct lm_exchange_place place = {1, 1, 1};
        const struct lm_bath b = lm_bath_of(&e, &place, sum, &around);
        worst = fmax(worst, (double)b.thermal * 2 * reach * (k - 1) / k);
    }
    ck_assert_double_le(worst, bound);
    ck_assert_double_gt(worst, 0.999 * bound);
}
END_TEST

/* The bound that fixed point rests on: cold ions get the noise of hot electrons, and are kicked after that. Of 12000
 * ions one reaches four standard deviations. */
START_TEST(speeds_are_bounded)
{
    static const char text[] =
        "[run]\nsteps = 10\ndt = 0.001\n[grid]\nnx = 6\nny = 2\nlx = 6\nly = 2\n[electrons]\nclosure = evolved\n"
        "temperature = 100\n[species.p]\nparticles_per_cell = 1000\ntemperature = 0\nelectron_exchange = 1e6\n";
    struct lm_sim *sim = sim_new(text, NULL);
    advance(sim, 1);
    ck_assert_double_gt(sqrt(sim->control.speed2[0]), 4 * sqrt(50));
    ck_assert_double_le(sqrt(sim->control.speed2[0]), ldexp(1, sim->pass[0].speed_exponent));
    ck_assert_int_eq(sim->exchange[0].limited, 12);
    advance(sim, 10);
    sim_free(sim);
}
END_TEST

/* Around a cell: neighbours count once each, those beyond walls not, and none below 0 independent ones. */
START_TEST(crowds)
{
    static const int numbers[4][3] = {{1, 0, 2}, {3, 5, 0}, {1, 1, 7}, {0, 0, 4}};
    int64_t sums[12 * LM_CELL_SUMS] = {0};
    for (int k = 0; k < 12; k++)
        sums[k * LM_CELL_SUMS + LM_SUM_NUMBER] = numbers[k / 3][k % 3];
    const struct lm_sides periodic = {{LM_PERIODIC, LM_PERIODIC, LM_PERIODIC, LM_PERIODIC}},
                          walls = {{LM_REFLECTING, LM_ABSORBING, LM_PERIODIC, LM_PERIODIC}};
    struct lm_crowd c = lm_crowd_around(sums, 3, 4, &periodic, 1, 1);
    ck_assert(c.ions == 20 && c.independent == 1 + 2 + 4 + 6);
    c = lm_crowd_around(sums, 3, 4, &periodic, 0, 3);
    ck_assert(c.ions == 16 && c.independent == 1 + 6 + 3);
    c = lm_crowd_around(sums, 3, 4, &walls, 0, 3);
    ck_assert(c.ions == 3 && c.independent == 0);
    c = lm_crowd_around(sums, 3, 4, &walls, 2, 0);
    ck_assert(c.ions == 11 && c.independent == 1 + 4 + 3);
    const double no = LM_NO_TEMPERATURE, t[12] = {1, no, 2, 3, 5, no, no, 1, 7, no, no, no};
    require_near(lm_temperature_around(t, 3, 4, &periodic, 1, 1), (1 + 2 + 3 + 5 + 1 + 7) / 6.0, 1e-15);
    require_near(lm_temperature_around(t, 3, 4, &walls, 0, 0), (1 + 3 + 5) / 3.0, 1e-15);
    ck_assert(lm_temperature_around(t, 3, 4, &walls, 0, 3) == 1);
    ck_assert(lm_temperature_around(t, 1, 1, &periodic, 0, 0) == 1);
    ck_assert(lm_temperature_around(t + 9, 3, 1, &periodic, 0, 0) == no);
}
END_TEST

static struct lm_bath bath_at(const struct lm_exchange *e, double n, double t, const int64_t *sum,
                              const struct lm_crowd *crowd)
{
    const struct lm_exchange_place place = {n, t, t};
    return lm_bath_of(e, &place, sum, crowd);
}

/* What a cell offers: nothing at the density floor, in solids, and to one alone; at T_e = 0 friction up to the limit;
 * to few as much more as there are ions to an independent one, but not more than there is. */
START_TEST(baths)
{
    const struct lm_ohm o = {.floor = 0.1, .gamma = GAMMA};
    const struct lm_exchange e = {.rate = 0.1, .most = 0.3, .mass = 4, .unit = 0x1p20};
    const int64_t many[] = {1 << 30, (int64_t)0.3e6 << 30, 0, -((int64_t)0.4e6 << 30), 0, (int64_t)1 << 58, 0};
    const struct lm_crowd plenty = {1 << 30, 1 << 30}, thirds = {9, 6}, halves = {18, 9}, lonely = {10, 1};
    const int64_t alone[] = {1, 5, 5, 5, 1, 2, 3}, two[] = {2, 2 << 20, 0, 0, 0, 0, 1 << 30},
                  three[LM_SUM_ENERGY] = {3};
    ck_assert(lm_electron_temperature(1, 0.1, 1, &o) == LM_NO_TEMPERATURE);
    ck_assert(lm_electron_temperature(1, 1, 0, &o) == LM_NO_TEMPERATURE);
    ck_assert_double_eq_tol(lm_electron_temperature(8, 2, 1, &o), 16, 1e-12);
    ck_assert_int_eq(bath_at(&e, 1, LM_NO_TEMPERATURE, many, &plenty).kind, LM_BATH_NONE);
    ck_assert_int_eq(bath_at(&e, 1, 4, alone, &halves).kind, LM_BATH_NONE);
    struct lm_bath b = bath_at(&e, 2, 4, many, &plenty);
    ck_assert_int_eq(b.kind, LM_BATH_OPEN);
    ck_assert_double_eq_tol(b.lost, -expm1(-0.1 * 2 / 8), 1e-8);
    ck_assert_double_eq_tol(b.thermal, sqrt(-expm1(-0.05)), 1e-7);
    ck_assert_double_eq_tol(b.u[0], 0.3e6 / 0x1p20, 1e-12);
    ck_assert_double_eq_tol(b.u[2], -0.4e6 / 0x1p20, 1e-12);
    ck_assert(b.noise[0] == 0 && b.noise[1] == 0.25f);
    b = bath_at(&e, 0.2, 0, many, &plenty);
    ck_assert(b.thermal == 0 && b.kind == LM_BATH_OPEN);
    ck_assert_double_eq_tol(b.lost, -expm1(-0.3), 1e-7);
    b = bath_at(&e, 2, 4, three, &thirds);
    ck_assert_double_eq_tol(b.lost, 1 - sqrt(1 + 1.5 * expm1(-0.05)), 1e-7);
    ck_assert_double_eq_tol(b.thermal, sqrt(-1.5 * expm1(-0.05)), 1e-7);
    b = bath_at(&e, 9, 1, two, &halves); /* 0.45 of 1, twice */
    ck_assert_double_eq_tol(b.lost, 1 - sqrt(1 + 2 * expm1(-0.6)), 1e-7);
    ck_assert(b.u[0] == 1 && b.noise[2] == 0.5f);
    const struct lm_exchange strong = {.rate = 9, .most = 0.4, .mass = 1, .unit = 1};
    b = bath_at(&strong, 1, 1, two, &lonely);
    ck_assert(b.lost == 1 && b.thermal == 1);
    ck_assert(lm_can_exchange(1, -0.98 / (GAMMA - 1), GAMMA));
    ck_assert(!lm_can_exchange(1, -0.99 / (GAMMA - 1), GAMMA));
    ck_assert(!lm_can_exchange(0, -1e-9, GAMMA) && lm_can_exchange(0, 1, GAMMA));
}
END_TEST

/* --- the same bits --- */

START_TEST(same_bits)
{
    static const char *const others[] = {"run.threads=3", "run.tile=16", "run.sort_every=1", "run.seed=2"};
    struct lm_sim *one = sim_new(busy_text, "run.tile=8"), *other = sim_new(busy_text, others[_i]);
    advance(one, 20);
    advance(other, 20);
    ck_assert_int_eq(fingerprint(one) == fingerprint(other), _i != 3);
    if (_i != 3)
        ck_assert_mem_eq(&one->ledger[1], &other->ledger[1], sizeof one->ledger[1]);
    sim_free(one);
    sim_free(other);
}
END_TEST

START_TEST(restarts)
{
    static const struct lm_references none;
    struct lm_sim *whole = sim_new(busy_text, NULL), *part;
    struct lm_config *c = (struct lm_config *)whole->config;
    struct lm_checkpoint head;
    char path[LM_MAX_PATH];
    snprintf(c->output.directory, sizeof c->output.directory, "%s", scratch);
    advance(whole, 5 + 2 * _i);
    ck_assert_msg(!lm_sim_save(whole, &none, 0, path), "%s", lm_error());
    c = config_new(busy_text, "run.tile=16");
    ck_assert_msg(!lm_sim_create(c, &part) && !restore_checkpoint(part, path, &head), "%s", lm_error());
    advance(whole, 20);
    advance(part, 20);
    ck_assert(fingerprint(part) == fingerprint(whole));
    for (int s = 0; s < 2; s++)
        ck_assert_mem_eq(&part->ledger[s], &whole->ledger[s], sizeof part->ledger[s]);
    sim_free(part);
    sim_free(whole);
}
END_TEST

/* --- what it says --- */

static void refuses(const char *keys, const char *expected)
{
    struct lm_config c;
    char text[1024];
    snprintf(text, sizeof text, "[run]\nsteps = 1\ndt = 0.1\n[grid]\nnx = 8\nny = 8\nlx = 8\nly = 8\n%s\n", keys);
    ck_assert_int_eq(lm_config_read_text("case.ini", text, 0, NULL, &c), LM_BAD_INPUT);
    assert_error_has(expected);
    ck_assert_ptr_null(strchr(lm_error(), '\n'));
    lm_config_free(&c);
}

START_TEST(bad_input)
{
    refuses("[species.p]\nelectron_exchange = 1",
            "case.ini:10: species.p.electron_exchange: needs electrons.closure = evolved");
    refuses("[electrons]\nclosure = polytropic\n[species.p]\nelectron_exchange = 1",
            "needs electrons.closure = evolved");
    refuses("[electrons]\nclosure = evolved\n[species.p]\nelectron_exchange = -1", "species.p.electron_exchange: ");
    refuses("[electrons]\nclosure = evolved\n[species.p]\nelectron_exchange = x", "species.p.electron_exchange: ");
}
END_TEST

static void checked_has(const char *more, const char *expected, int has)
{
    struct lm_config *c = config_new(busy_text, more);
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    const int status = lm_check(c, to);
    ck_assert_msg(status == LM_OK || status == LM_BEYOND, "%s", lm_error());
    fclose(to);
    ck_assert_msg((strstr(out, expected) != NULL) == has, "%s", out);
    free(out);
    lm_config_free(c);
    free(c);
}

/* n = 1.4; the coldest cell's centre: T = 0.5 - 0.3 sin(2 pi 8.5/11) (of 8.5, 8.5 and 2.5, 2.5 by symmetry) = 0.203. */
START_TEST(checked)
{
    char line[256];
    const double most = 1.4 * pow(0.5 + 0.3 * sin(2 * M_PI * 8.5 / 11), -1.5);
    snprintf(line, sizeof line, "    exchange with p: nu dt up to %.3g at the start\n    exchange with q: nu dt up to",
             0.3 * 0.02 * most);
    checked_has(NULL, line, 1);
    checked_has(NULL, "; a smaller run.dt", 1); /* q: three steps at once, 0.92 */
    checked_has("species.q.collide_every=1", "; a smaller run.dt", 1);
    checked_has("species.q.electron_exchange=0.1", "; a smaller run.dt", 0);
    checked_has("species.q.electron_exchange=0", "exchange with q", 0);
}
END_TEST

/* Without an exchange there is nothing of it in the series. */
START_TEST(columns)
{
    struct lm_sim *sim = sim_new(busy_text, "species.q.electron_exchange=0");
    struct row r = row_of(sim);
    ck_assert_ptr_nonnull(find(&r, "to_electrons_energy_p"));
    ck_assert_ptr_nonnull(find(&r, "electron_exchange_limited_p"));
    ck_assert_ptr_null(find(&r, "to_electrons_energy_q"));
    ck_assert_ptr_null(find(&r, "electron_exchange_limited_q"));
    free(r.columns);
    sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exchange of heat");
    TCase *t = tcase_create("exchange of heat");
    tcase_set_timeout(t, 200);
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, relaxes, 0, 2);
    tcase_add_loop_test(t, noise_is_normal, 0, 2);
    tcase_add_test(t, long_steps);
    tcase_add_loop_test(t, few_ions, 0, 2);
    tcase_add_loop_test(t, lonely_ions, 0, unless_sanitized(1));
    tcase_add_loop_test(t, settles_at_the_mean, 0, unless_sanitized(1));
    tcase_add_test(t, drift_stays);
    tcase_add_test(t, streams_stay);
    tcase_add_loop_test(t, budgets, 0, 2);
    tcase_add_test(t, energy_stays);
    tcase_add_loop_test(t, cells_refuse, 0, 2);
    tcase_add_test(t, worst_noise);
    tcase_add_test(t, speeds_are_bounded);
    tcase_add_test(t, crowds);
    tcase_add_test(t, baths);
    tcase_add_loop_test(t, same_bits, 0, 4);
    tcase_add_loop_test(t, restarts, 0, 4);
    tcase_add_test(t, bad_input);
    tcase_add_test(t, checked);
    tcase_add_test(t, columns);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
