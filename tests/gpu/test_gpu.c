/* CPU and GPU, bit for bit. Needs a GPU. Prints a line a case that can stand in golden.txt: with --write, only those;
 * with --cpu, the CPU's alone (no GPU needed). --fast [NAME]: short runs of the cases whose names begin so, or of the
 * `fields` between walls, or of the operators: `ops`. --only NAME: these in full; `sizes` are the domains of many
 * sizes.
 *
 * A program without Check: CUDA does not survive a fork, and the machine with the GPU may have no libraries. */
#include <time.h>

#include "../inside.h"
#include "../cases.h"
#include "backgrounds.h"
#include "field_walls.h"
#include "operators.h"

static int failures;

static void report(const struct run_case *c, uint64_t want, const char *what, uint64_t print)
{
    int ok = print == want;
    failures += !ok;
    printf("%-28s %-34s %016llx %s\n", c->name, what, (unsigned long long)print, ok ? "equal" : "DIFFERENT");
    fflush(stdout);
}

static void compare(const struct run_case *c, uint64_t want, const char *what, int count, const char *const *more)
{
    report(c, want, what, case_run(c, count, more));
}

/* A restart from one backend on the other in the middle of the run. */
static void compare_restart(const struct run_case *c, uint64_t want)
{
    const char *cpu[] = {"run.backend=cpu", "run.tile=16"}, *gpu[] = {"run.backend=cuda", "run.tile=8"};
    char directory[] = "/tmp/larmor-gpu-XXXXXX", command[64];
    if (!mkdtemp(directory))
        exit(1);
    report(c, want, "CPU to step 11, on with the GPU", case_run_restarted(c, 2, cpu, gpu, 11, directory));
    report(c, want, "GPU to step 12, on with the CPU", case_run_restarted(c, 2, gpu, cpu, 12, directory));
    report(c, want, "GPU to step 13, on with the GPU", case_run_restarted(c, 2, gpu, gpu, 13, directory));
    snprintf(command, sizeof command, "rm -r %s", directory);
    failures += system(command) != 0;
}

/* The arrays that outputs contain and that no fingerprint covers. */
static int same_output(struct lm_sim *one, struct lm_sim *two)
{
    const int arrays[] = {LM_E, LM_E + 1, LM_E + 2, LM_PRESSURE, LM_SPECIES_N, LM_SPECIES_N + 1};
    const struct lm_grid *g = &one->grid;
    double *a = malloc(g->size * sizeof *a), *b = malloc(g->size * sizeof *b);
    int same = a && b;
    for (int k = 0; same && k < 5 + (one->config->species_count > 1); k++) {
        same =
            !one->backend->ops->get(one->backend, arrays[k], a) && !two->backend->ops->get(two->backend, arrays[k], b);
        for (int j = 0; same && j < g->ny; j++)
            same = !memcmp(a + lm_at(g, 0, j), b + lm_at(g, 0, j), (size_t)g->nx * sizeof *a);
    }
    free(a);
    free(b);
    return same;
}

/* Counts of particles: in bins that a block of threads counts apart, and in more of them. */
static int same_distribution(struct lm_sim *one, struct lm_sim *two)
{
    static const struct lm_bins kinds[] = {
        {3, {LM_AXIS_PAR, LM_AXIS_PERP, LM_AXIS_GYROPHASE}, {20, 12, 15}, {-2, 0, 0}, {2, 2, 360}, LM_NO_REGION},
        {3, {LM_AXIS_PITCH, LM_AXIS_ENERGY, LM_AXIS_Y}, {60, 50, 40}, {0, 0, 0}, {180, 3, 20}, LM_NO_REGION}};
    int same = 1;
    for (int k = 0; same && k < 2 * one->config->species_count; k++) {
        const struct lm_bins *bins = &kinds[k % 2];
        const size_t size = lm_bins_counters(bins) * sizeof(uint64_t);
        uint64_t *a = malloc(size), *b = malloc(size);
        same = a && b && !lm_sim_distribution(one, k / 2, bins, a) && !lm_sim_distribution(two, k / 2, bins, b) &&
               !memcmp(a, b, size);
        free(a);
        free(b);
    }
    return same;
}

/* Energies, momenta, div B, the maxima of the control values, the arrays of outputs and counts of particles must be
 * equal to the bit. */
static void compare_totals(const struct run_case *c, const char *const *gpu)
{
    const char *cpu[] = {"run.backend=cpu"};
    struct case_state one = case_open(c, 1, cpu, NULL), two = case_open(c, 2, gpu, NULL);
    struct lm_totals a, b;
    case_advance(c, &one, 5);
    case_advance(c, &two, 5);
    case_must(lm_sim_totals(one.sim, &a), c->name);
    case_must(lm_sim_totals(two.sim, &b), c->name);
    one.sim->control.strays[0] = two.sim->control.strays[0]; /* this number depends on tiles and sorting */
    one.sim->control.strays[1] = two.sim->control.strays[1];
    int ok = !memcmp(&a, &b, sizeof a) && !memcmp(&one.sim->control, &two.sim->control, sizeof one.sim->control) &&
             same_output(one.sim, two.sim) && same_distribution(one.sim, two.sim);
    failures += !ok;
    printf("%-28s %-34s energy %.17g %s\n", c->name, "totals, maxima, outputs", a.energy, ok ? "equal" : "DIFFERENT");
    case_close(&one);
    case_close(&two);
}

/* Short runs that pass through every kernel: both tiles, sorting, strays, sums, a restart. */
static void under_sanitizer(const struct run_case *c)
{
    const char *cpu[] = {"run.backend=cpu", "run.steps=6"};
    const char *sorted[] = {"run.backend=cuda", "run.steps=6", "run.tile=8", "run.sort_every=2"};
    const char *strays[] = {"run.backend=cuda", "run.steps=6", "run.tile=16", "run.sort_every=1000"};
    char directory[] = "/tmp/larmor-gpu-XXXXXX", command[64];
    uint64_t want = case_run(c, 2, cpu);
    compare(c, want, "GPU, tile 8, sorted every 2", 4, sorted);
    compare(c, want, "GPU, tile 16, never sorted", 4, strays);
    compare_totals(c, sorted);
    if (!mkdtemp(directory))
        exit(1);
    report(c, want, "GPU to step 3, on with the GPU", case_run_restarted(c, 4, sorted, strays, 3, directory));
    snprintf(command, sizeof command, "rm -r %s", directory);
    failures += system(command) != 0;
}

/* Whether a case ends on the GPU in another state than on the CPU. keys[0] is overwritten with the backend. */
static int backends_differ(const struct run_case *c, int count, const char **keys)
{
    keys[0] = "run.backend=cpu";
    const uint64_t cpu = case_run(c, count, keys);
    keys[0] = "run.backend=cuda";
    return case_run(c, count, keys) != cpu;
}

/* Takes three steps in a domain of nx x ny cells on both backends, with two keys. Returns whether they differ. */
static int differs(int nx, int ny, const char *const keys[2])
{
    const struct run_case c = {"sizes", "wide.ini", {NULL}};
    char size[4][32];
    snprintf(size[0], sizeof size[0], "grid.nx=%d", nx);
    snprintf(size[1], sizeof size[1], "grid.ny=%d", ny);
    snprintf(size[2], sizeof size[2], "grid.lx=%g", 0.25 * nx);
    snprintf(size[3], sizeof size[3], "grid.ly=%g", 0.25 * ny);
    const char *all[] = {NULL,    "run.steps=3", "species.protons.particles_per_cell=2",
                         keys[0], keys[1],       size[0],
                         size[1], size[2],       size[3]};
    if (!backends_differ(&c, 9, all))
        return 0;
    printf("%d x %d cells, %s, %s: DIFFERENT\n", nx, ny, keys[0], keys[1]);
    return 1;
}

/* A few steps in domains of many widths and heights, for kernels that cut them into strips and blocks. */
static void compare_sizes(void)
{
    static const char *const kinds[][2] = {{"fields.eta=0", "fields.eta_hyper=0"},
                                           {"fields.eta=1e-3", "fields.eta_hyper=0"},
                                           {"fields.eta=0", "fields.eta_hyper=1e-4"}};
    int tried = 0, different = 0;
    for (int nx = 1; nx < 1200; nx += nx < 24 ? 1 : 23)
        for (int kind = 0; kind < 3; kind++, tried++)
            different += differs(nx, 1 + (7 * nx + kind) % 40, kinds[kind]);
    failures += different;
    printf("%-28s %d, different %d\n", "sizes of domains", tried, different);
}

/* The same in domains that fill the GPU, also with electrons whose pressure changes B. */
static void compare_large(void)
{
    static const char *const kinds[][2] = {{"electrons.closure=isothermal", "fields.eta=1e-3"},
                                           {"electrons.closure=evolved", "fields.eta=0"},
                                           {"electrons.closure=evolved", "fields.eta=1e-3"},
                                           {"electrons.closure=evolved", "fields.eta_hyper=1e-4"}};
    static const int sizes[][2] = {{300, 700}, {700, 300}, {1196, 261}};
    int tried = 0, different = 0;
    for (int size = 0; size < 3; size++)
        for (int kind = 0; kind < 4; kind++, tried++)
            different += differs(sizes[size][0], sizes[size][1], kinds[kind]);
    failures += different;
    printf("%-28s %d, different %d\n", "large domains", tried, different);
}

/* Plasma between large voids. */
#define BAND "species.protons.density=abs(y-ly/2)<9 ? 1+0.3*cos(2*pi*x/lx) : 0"

/* Domains of which parts are plain (cuda/fields/plain.cuh), beside sides, bodies and voids of all kinds. */
static void compare_plain(void)
{
    enum { KEYS = 5 };
    static const char *const kinds[][KEYS] = {
        {NULL},
        {"fields.eta_hyper=1e-3", "fields.eta=1e-3", "boundary.x_min=inflow", "species.protons.inflow_density=1.3"},
        {"electrons.closure=evolved", "fields.min_substeps=5"},
        {"boundary.y_min=reflecting", "boundary.y_max=reflecting"},
        {"body.disk.fields=resistive", "body.disk.resistivity=100", "boundary.fields_x_max=inflow_b"},
        {"body.disk.fields=insulating", "electrons.closure=polytropic", "grid.nx=257", "grid.ny=611"},
        {"body.disk.fields=transparent", "boundary.x_min=periodic", "boundary.x_max=periodic"},
        {"grid.nx=1031", "grid.ny=130", "grid.lx=257.75", "grid.ly=32.5", "fields.eta_hyper=1e-4"},
        {BAND, "boundary.x_min=periodic", "boundary.x_max=periodic"},
        {BAND, "electrons.closure=evolved", "fields.eta=1e-2", "boundary.y_min=reflecting",
         "boundary.y_max=reflecting"},
        {BAND, "electrons.closure=polytropic", "boundary.x_min=reflecting", "boundary.x_max=reflecting", "fields.bx=0"},
        {BAND, "fields.eta_hyper=1e-3", "body.disk.fields=insulating"},
        {BAND, "grid.nx=129", "grid.ny=517", "boundary.x_min=periodic", "boundary.x_max=periodic"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const struct run_case c = {"plain", "plain.ini", {NULL}};
    int different = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const char *all[KEYS + 1] = {NULL};
        int count = 1;
        for (; count <= KEYS && kinds[kind][count - 1]; count++)
            all[count] = kinds[kind][count - 1];
        if (!backends_differ(&c, count, all))
            continue;
        printf("plain.ini, kind %d: DIFFERENT\n", kind);
        different++;
    }
    failures += different;
    printf("%-28s %d, different %d\n", "plain parts of domains", KINDS, different);
}

#ifdef LM_CUDA
unsigned long long test_divide(unsigned long long *tried); /* divide.cu */
#endif

/* Prints the fingerprints of the CPU in the form of golden.txt. */
static int print_cpu(void)
{
    const char *cpu[] = {"run.backend=cpu"};
    for (int k = 0; k < RUN_CASES; k++)
        printf("%s %016llx\n", run_cases[k].name, (unsigned long long)case_run(&run_cases[k], 1, cpu));
    return 0;
}

static int begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--cpu"))
        return print_cpu();
    const char *only = argc > 2 ? argv[2] : "";
    int write = argc > 1 && !strcmp(argv[1], "--write"), fast = argc > 1 && !strcmp(argv[1], "--fast"), cases = 0;
    const char *cpu[] = {"run.backend=cpu"}, *gpu8[] = {"run.backend=cuda", "run.tile=8"};
    const char *gpu16[] = {"run.backend=cuda", "run.tile=16", "run.sort_every=3"};
    const char *gpu1000[] = {"run.backend=cuda", "run.tile=8", "run.sort_every=1000"};
    for (int k = 0; k < RUN_CASES; k++, cases++) {
        const struct run_case *c = &run_cases[k];
        uint64_t golden = golden_of(c->name);
        if (!begins(c->name, only))
            continue;
        if (fast) {
            under_sanitizer(c);
            continue;
        }
        uint64_t print = case_run(c, 1, cpu);
        if (write) {
            uint64_t other = case_run(c, 2, gpu8);
            if (other == print)
                printf("%s %016llx\n", c->name, (unsigned long long)print);
            failures += other != print;
            continue;
        }
        if (golden != print) {
            failures++;
            printf("%-28s CPU %016llx is not the golden %016llx\n", c->name, (unsigned long long)print,
                   (unsigned long long)golden);
        }
        compare(c, print, "GPU, tile 8", 2, gpu8);
        compare(c, print, "GPU, tile 16, sorted every 3", 3, gpu16);
        compare(c, print, "GPU, tile 8, never sorted", 3, gpu1000);
        compare_restart(c, print);
        compare_totals(c, gpu8);
    }
    if (!fast && !write && begins("sizes", only)) {
        compare_sizes();
        compare_large();
    }
    if (!fast && !write && begins("plain", only))
        compare_plain();
#ifdef LM_CUDA
    if (!write && begins("fields", only))
        failures += fields_compare(fast ? 40 : 1200, 1);
    if (!write && begins("backgrounds", only))
        failures += backgrounds_compare(fast ? 36 : 720);
    if (!fast && !write && begins("backgrounds", only))
        failures += large_backgrounds_compare();
    if (!write && begins("ops", only))
        failures += operators_compare(fast ? 20 : 400);
    unsigned long long tried, wrong = fast || write ? 0 : test_divide(&tried);
    failures += wrong > 0;
    if (!fast && !write)
        printf("divisions %llu, wrong %llu\n", tried, wrong);
#endif
    if (!write)
        printf("%d cases, %d failures\n", cases, failures);
    return failures != 0;
}
