/* The programs `larmor check` and `larmor run` agree: memory, limits, runs that cannot begin, and paths that are no
 * regular files. */
#include <math.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "cli.h"

/* `check` and `run` must end with this code and the same message, and neither may write anything. */
static void both_refuse(int code, const char *arguments, const char *expected)
{
    char text[CLI_TEXT];
    const uint64_t before = cli_snapshot();
    CLI(code, "check %s", arguments);
    snprintf(text, sizeof text, "%s", cli.err);
    cli_has(text, expected);
    ck_assert_msg(code != 2 || cli.out[0] == 0, "printed %s", cli.out);
    CLI(code, "run %s --quiet", arguments);
    if (code == 1) /* a run also prints this line when it fails before its first step */
        snprintf(text + strlen(text), sizeof text - strlen(text), "nothing has been written\n");
    ck_assert_str_eq(cli.err, text);
    ck_assert_msg(before == cli_snapshot(), "%s: changed the directory", arguments);
}

static const struct {
    const char *overrides, *expected;
} impossible[] = {
    {"species.protons.particles_per_cell=1e9", "[species.protons]: 9.6e+10 particles; at most 4294960000"},
    {"species.protons.density=1e300", "[species.protons]: 7.68e+302 particles; at most"},
    {"species.protons.temperature=1e300", "[species.protons]: drift or temperature / mass too large"},
    {"species.protons.drift_y=1e300", "[species.protons]: drift or temperature / mass too large"},
    {"species.protons.mass=1e-300", "[species.protons]: drift or temperature / mass too large"},
    {"species.protons.density=0", "no species has any particles"},
    {"fields.by=sin(y)+cos(x*y)", "div B is not zero"},
};

START_TEST(nothing_can_begin)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments, "small.ini %s", impossible[_i].overrides);
    both_refuse(2, arguments, impossible[_i].expected);
}
END_TEST

/* The limit of one device is that of each rank. */
START_TEST(ranks_hold_more_particles)
{
    CLI(2, "check small.ini species.protons.particles_per_cell=1e9 --ranks 22");
    cli_has(cli.err, "[species.protons]: 9.6e+10 particles; at most 94489120000 fit 22 ranks: use more ranks");
}
END_TEST

/* A problem that shows only when the particles have been loaded is found by both. */
START_TEST(first_step_cannot_be_taken)
{
    both_refuse(1, "small.ini run.dt=3",
                "step 1 (from t = 0) cannot be taken: a particle of species protons could cross");
    CLI(1, "check small.ini run.dt=3");
    cli_has(cli.out, "BEYOND");
}
END_TEST

static const struct {
    const char *section, *expected;
} fields[] = {
    {"[background.q]\nkind = neutral_gas\ninitial = 1 - x\n",
     "background.q.initial: \"1 - x\" is -0.25 at x = 1.25, y = 0.25: the density of a neutral_gas cannot be negative"},
    {"[background.q]\ninitial = 1e300\n", "[background.q]: values up to 1e+300; they must stay below 1e+150"},
    {"[body.far]\nshape = disk\nx = 1e8\ny = 2\nradius = 1\n",
     "the centre 1e+08 2 is more than 1e+06 lengths of the periodic domain (6 x 4 d_i) away"},
    {"[body.far]\nshape = disk\nx = 1e300\ny = 2\nradius = 1\n", "body.far.x: 1e300 is out of range (-1e+12 to 1e+12)"},
    {"[fields]\nby = \"a\"\n", "fields.by: quotes are not allowed: \"a\"; write the value without them"},
    {"[const]\na = 'b'\n", "const.a: quotes have no meaning in an expression: 'b'; leave them out"},
    {"[species.protons]\nmass = 1\n",
     "[species.protons]: given twice, first on line 15; give the second one another name"},
    {"[background.q]\ninitial = 1\n[background.q]\nsource = 1\n", "[background.q]: given twice, first on line 19;"},
};

START_TEST(wrong_sections)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", cli_small, fields[_i].section);
    make_file("more.ini", text);
    both_refuse(2, "more.ini", fields[_i].expected);
}
END_TEST

START_TEST(repeated_keys)
{
    both_refuse(2, "small.ini run.seed=2 run.seed=3",
                "command line: run.seed: given twice, as 2 and as 3: leave one out");
    both_refuse(2, "small.ini run.steps=2 --steps 3", "command line: run.steps: given twice, as 2 and as 3");
    CLI(0, "check small.ini run.seed=2 run.steps=3");
}
END_TEST

/* --- exit codes and warnings --- */

START_TEST(limits)
{
    CLI(0, "check small.ini");
    ck_assert_str_eq(cli.err, "");
    CLI(4, "check small.ini run.dt=0.21");
    cli_has(cli.out, " 0.21 of 0.2 ");
    cli_has(cli.out, "advice\n  gyration: Z B dt/m is beyond its limit: take run.dt <= 0.2\n");
    ck_assert_str_eq(strstr(cli.err, "beyond"), "beyond 2 limits: gyration: Z B dt/m; cells a step, protons\n");
    CLI(0, "run small.ini --quiet --steps 1 --output u run.dt=0.21");
    ck_assert_int_eq(cli_lines(cli.err), 2);
    cli_has(cli.err, "larmor: warning: gyration: Z B dt/m is 0.21, beyond its limit 0.2 (");
    cli_has(cli.err, "): take run.dt <= 0.2\n");
    char *json = cli_read("u/run.json");
    cli_has(json, "\"gyration: Z B dt/m is 0.21, beyond its limit 0.2 (");
    free(json);
    CLI(0, "run small.ini --quiet --steps 1 --output v");
    ck_assert_str_eq(cli.err, "");
    json = cli_read("v/run.json");
    cli_has(json, "\"warnings\": []");
    free(json);
}
END_TEST

/* Two radiating sides that meet in a corner get an advice, one that meets no other does not. */
START_TEST(corners_of_radiating_sides)
{
#define WIND " boundary.x_min=inflow boundary.x_max=absorbing boundary.fields_x_max=radiating species.protons.drift_x=2"
    CLI(0, "check small.ini run.dt=0.02" WIND);
    ck_assert_ptr_null(strstr(cli.out, "meet in a corner"));
    CLI(0, "check small.ini run.dt=0.02 boundary.y_min=reflecting boundary.y_max=absorbing "
           "boundary.fields_y_max=radiating" WIND);
    cli_has(cli.out, "\n  boundary.fields_x_max and boundary.fields_y_max are radiating and meet in a corner");
#undef WIND
}
END_TEST

/* 4 B dt/(dx^2 n)/(2 pi) turns in one row of cells, and none where B is across the plane. */
START_TEST(short_whistlers)
{
#define ROW "check small.ini grid.ny=1 grid.lx=1.2 grid.ly=0.1 species.protons.temperature=0.2 "
    CLI(4, ROW "fields.bx=2 run.dt=0.03");
    cli_has(cli.out, "take run.dt <= 0.0236, or larger cells");
    ck_assert_str_eq(strstr(cli.err, "beyond"), "beyond 1 limit: shortest whistler: turns a step\n");
    CLI(0, ROW "fields.bx=0 fields.bz=2 run.dt=0.03");
    CLI(0, ROW "fields.bx=2 run.dt=0.02");
#define RADIATING ROW "fields.bx=2 boundary.x_min=reflecting boundary.x_max=absorbing boundary.fields_x_max=radiating "
    CLI(0, RADIATING "run.dt=0.02");
    CLI(4, RADIATING "run.dt=0.03");
    cli_has(cli.out, "take run.dt <= 0.0236, or larger cells");
    CLI(4, ROW "fields.bx=2 run.dt=0.02 fields.density_floor=1"); /* no mean of B */
    cli_has(cli.out, "take run.dt <= 0.00864, or larger cells");
#undef RADIATING
#undef ROW
}
END_TEST

/* check and the run say which fields at sides the flow has chosen. */
START_TEST(sides_that_the_flow_chose)
{
#define WIND "small.ini boundary.x_min=inflow boundary.x_max=absorbing species.protons.temperature=0.25 "
    CLI(0, "check " WIND "species.protons.drift_x=1.5");
    cli_has(cli.out, "  x_max: particles absorbing, fields radiating, because plasma flows out at 3 times its thermal "
                     "speed\n");
    CLI(0, "check " WIND "species.protons.drift_x=1.5 boundary.fields_x_max=open");
    cli_has(cli.out, "  x_max: particles absorbing, fields open\n");
    CLI(0, "run " WIND "species.protons.drift_x=1.5 run.steps=1 --output wind");
    cli_has(cli.err, "fields at x_max: radiating, because plasma flows out at 3 times its thermal speed; "
                     "boundary.fields_x_max = open is the other choice\n");
    CLI(0, "run " WIND "species.protons.drift_x=0.3 run.steps=1 --output slow");
    ck_assert_ptr_null(strstr(cli.err, "fields at x_max"));
    cli_has(cli.err, "fields at x_min: radiating, because plasma flows in at 0.212 times the speed of fast waves; "
                     "boundary.fields_x_min = inflow is the other choice\n");
    CLI(0, "check " WIND "boundary.y_min=reflecting boundary.y_max=reflecting");
    cli_has(cli.out, "  x_min: particles inflow, fields open, because the mean flow there is not inwards\n");
#undef WIND
}
END_TEST

/* The inertial length is shortest where the plasma is densest: 1/4 d_i at n = 16. */
START_TEST(dense_layer)
{
#define ROW "check small.ini grid.lx=4 grid.ly=4 species.protons.particles_per_cell=1000 species.protons.density="
    CLI(0, ROW "1 grid.nx=12 grid.ny=12");
    CLI(4, ROW "x<1?16:1 grid.nx=12 grid.ny=12");
    cli_has(cli.out, "take cells of 0.25 d_i or less: grid.nx >= 16 and grid.ny >= 16");
    ck_assert_str_eq(strstr(cli.err, "beyond"), "beyond 1 limit: cell / ion inertial length of the densest cell\n");
#undef ROW
}
END_TEST

/* Four alpha particles have the charge of a density of 2, so that this plasma of density 1.1 counts as thin. There the
 * density counts as (k dt)^2 B^2 = 8 0.1^2/0.2^2 = 2 at least. With more particles, four of them are less than 1.1. */
START_TEST(few_ions_of_one_species)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[species.alphas]\ncharge = 2\nmass = 4\ndensity = 0.05\nparticles_per_cell = 4\n",
             cli_small);
    make_file("alphas.ini", text);
#define ALPHAS "check alphas.ini grid.lx=2.4 grid.ly=1.6 species.protons.temperature=0.02 "
    CLI(4, ALPHAS "run.dt=0.1");
    ck_assert_str_eq(strstr(cli.err, "beyond"), "beyond 1 limit: density in Ohm's law over that of the plasma\n");
    cli_has(cli.out, "raise particles_per_cell of species alphas");
    cli_has(cli.out, " 1.818 of 1 ");
    CLI(0, ALPHAS "run.dt=0.1 species.alphas.particles_per_cell=8");
    CLI(0, ALPHAS "run.dt=0.07");
#undef ALPHAS
}
END_TEST

/* A field may start out of its bounds; check and run both warn of it. */
START_TEST(out_of_bounds)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[background.q]\ninitial = x\nbounds = on\nmaximum = 2\n", cli_small);
    make_file("bounds.ini", text);
    CLI(4, "check bounds.ini"); /* x = 0.25, 0.75, ...: 8 of 12 columns */
    cli_has(cli.err, "beyond 1 limit: cells out of bounds, q\n");
    cli_has(cli.out, " 64 of 0 ");
    cli_has(cli.out, "take bounds that hold background.q.initial, or clip it");
    CLI(0, "run bounds.ini --quiet --steps 1");
    cli_has(cli.err, "larmor: warning: cells out of bounds, q is 64, beyond its limit 0 (");
    CLI(0, "check bounds.ini background.q.maximum=6");
    CLI(4, "check bounds.ini background.q.maximum=6 background.q.minimum=1");
}
END_TEST

/* For every limit that is exceeded check prints an advice. */
START_TEST(advice)
{
    static const char *const overrides[] = {"run.dt=0.3", "fields.bz=1e4 run.dt=1e-4 fields.max_substeps=2 grid.lx=1",
                                            "grid.lx=60 grid.ly=60", "species.protons.start=random",
                                            "species.protons.start=random species.protons.density=0.1+x"};
    const int code = cli_call("check small.ini %s", overrides[_i]);
    ck_assert_int_eq(code, _i == 1 ? 1 : 4); /* a run refuses to start with so many substeps */
    int beyond = 0, advised = 0;
    for (const char *p = cli.out; (p = strstr(p, "BEYOND")); p++)
        beyond++;
    for (const char *p = cli.out; (p = strstr(p, " is beyond its limit: ")); p++) {
        ck_assert_msg(p[22] != '\n', "empty advice");
        advised++;
    }
    ck_assert_int_ge(beyond, 1);
    ck_assert_int_eq(beyond, advised);
}
END_TEST

/* --- memory --- */

static void limit_memory(rlim_t mebibytes)
{
    const struct rlimit limit = {mebibytes << 20, mebibytes << 20};
    setrlimit(RLIMIT_AS, &limit);
}

static void limit_memory_to_400(void)
{
    limit_memory(400);
}

static void limit_memory_to_300(void)
{
    limit_memory(300);
}

#ifdef __SANITIZE_ADDRESS__
enum { CAN_LIMIT = 0 }; /* it maps terabytes itself */
#else
enum { CAN_LIMIT = 1 };
#endif

/* --- the time --- */

/* The steps are taken in memory, and `check` ends as without them. */
START_TEST(time_of_a_run)
{
    const uint64_t before = cli_snapshot();
    CLI(0, "check small.ini --time --output d");
    const char *at = strstr(cli.out, "\ntime\n");
    ck_assert_ptr_nonnull(at);
    double start, step, hours, minutes, seconds;
    int steps, all;
    ck_assert_int_eq(sscanf(at,
                            " time start %lf s; a step %lf ms (mean of %d, the first one does not count) %lf h %lf "
                            "min %lf s for %d steps",
                            &start, &step, &steps, &hours, &minutes, &seconds, &all),
                     7);
    ck_assert(start > 0 && step > 0 && steps > 0 && steps <= 39 && all == 40);
    ck_assert_double_eq(3600 * hours + 60 * minutes + seconds, floor(start + 1e-3 * step * 40));
    CLI(4, "check small.ini --time --output d run.dt=0.25");
    cli_has(cli.err, "beyond ");
    CLI(2, "check small.ini --time run.dt=0");
    CLI(0, "check small.ini --time run.steps=1");
    cli_has(cli.out, "1 steps are too few to be measured");
    ck_assert_msg(before == cli_snapshot(), "check has written something");
}
END_TEST

/* --- the disk --- */

static const char outputs[] = "[output]\nfields_every = 10\nparticles_every = 20\nparticles_fraction = 0.5\n"
                              "checkpoint_every = 15\n[output.m]\nevery = 7\nquantities = E_terms heating velocity "
                              "temperature B backgrounds\nprecision = single\ncoarsen = 2\nfrom_x = 16\n"
                              "[distribution.d]\nevery = 40\naxes = vx, vy\nbins = 100, 200\nfrom = -1, -1\nto = 1, 1\n"
                              "[background.q]\ninitial = 1\n";

/* The line of a kind in what `check` has printed: how many files, and bytes of each. */
static void listed(const char *kind, int *number, double *bytes)
{
    char line[64];
    double gib;
    snprintf(line, sizeof line, "\n  %s: ", kind);
    const char *at = strstr(cli.out, line);
    ck_assert_msg(at != NULL, "no line of %s", kind);
    ck_assert_int_eq(sscanf(at + strlen(line), "%d file%*[s] of %lf GiB", number, &gib), 2);
    *bytes = gib * 0x1p30;
}

/* Files have what `check` says, and a head: the configuration, attributes, and empty space between pieces. */
START_TEST(disk)
{
    static const struct {
        const char *kind, *pattern;
        int number, kept;
    } expected[] = {{"fields", "fields/data_%08d.h5", 5, 10},
                    {"particles", "particles/data_%08d.h5", 3, 20},
                    {"output.m", "outputs/m_%08d.h5", 6, 7},
                    {"distribution.d", "distributions/d_%08d.h5", 2, 40},
                    {"checkpoints", "checkpoints/checkpoint_%08d.h5", 3, 30}};
    enum { HEAD = 80000 };
    FILE *in = fopen(scratch_path("disk.ini"), "w");
    fprintf(in, "%s%s", cli_small, outputs);
    fclose(in);
    CLI(0, "check disk.ini --output d grid.nx=96 grid.ny=64 grid.lx=48 grid.ly=32");
    const char *all = strstr(cli.out, "\n  in all at most ");
    ck_assert(all && strstr(all, " GiB free\n"));
    int number[5];
    double bytes[5];
    for (int k = 0; k < 5; k++)
        listed(expected[k].kind, &number[k], &bytes[k]);
    int series;
    double of_series; /* the mean of series.h5, which has 8 bytes a number, and series.csv, which has at most 25 */
    listed("time series", &series, &of_series);
    ck_assert_int_eq(series, 2);
    CLI(0, "check disk.ini --output /no/such/place grid.nx=96 grid.ny=64 grid.lx=48 grid.ly=32");
    cli_has(cli.out, " GiB free\n");
    ck_assert(!strstr(cli.out, "unknown"));
    CLI(0, "run disk.ini --output d --quiet grid.nx=96 grid.ny=64 grid.lx=48 grid.ly=32");
    struct stat csv;
    ck_assert(!stat(scratch_path("d/series.csv"), &csv));
    ck_assert((double)csv.st_size < of_series * 50 / 33 && (double)csv.st_size > of_series * 50 / 33 / 4);
    for (int k = 0; k < 5; k++) {
        char name[64], path[80];
        struct stat s;
        snprintf(name, sizeof name, expected[k].pattern, expected[k].kept); /* a step of which there is a file */
        snprintf(path, sizeof path, "d/%s", name);
        ck_assert_msg(!stat(scratch_path(path), &s), "no %s", path);
        ck_assert_int_eq(number[k], expected[k].number);
        const double size = (double)s.st_size;
        ck_assert_msg(size > 0.999 * bytes[k] && size < 1.001 * bytes[k] + HEAD, "%s: %g bytes, said %g", path, size,
                      bytes[k]);
    }
}
END_TEST

START_TEST(too_much_memory)
{
    char expected[64] = "not enough memory on the host: the run needs ";
    cli.prepare = CAN_LIMIT ? limit_memory_to_400 : NULL;
    CLI(2, "check small.ini species.protons.particles_per_cell=%s", CAN_LIMIT ? "2e5" : "4e7");
    cli_has(cli.err, expected);
    cli_has(cli.err, "GiB (particles ");
    cli_has(cli.err, " GiB are free (");
    cli_has(cli.err, "fewer particles (particles_per_cell)");
    if (CAN_LIMIT)
        cli_has(cli.err, "ulimit -v");
    CLI(2, "run small.ini species.protons.particles_per_cell=%s", CAN_LIMIT ? "2e5" : "4e7");
    cli_has(cli.err, expected);
    ck_assert(!cli_exists("small.out"));
    CLI(0, "check small.ini species.protons.particles_per_cell=1e3");
}
END_TEST

/* No expression is evaluated on the largest grid that can be configured. */
START_TEST(large_grid)
{
    const double start = lm_clock();
    CLI(2, "check small.ini grid.nx=32768 grid.ny=32768 fields.az=sin(x)*cos(y) fields.eta=exp(-x-y)");
    cli_has(cli.err, "not enough memory on the host: the run needs ");
    cli_has(cli.err, " GiB (grid ");
    ck_assert_msg(lm_clock() - start < 10, "%g s", lm_clock() - start);
}
END_TEST

/* On a grid of many cells that fits into memory, expressions are evaluated in some of the cells only. */
START_TEST(many_cells)
{
    const double start = lm_clock();
    int code = cli_call("check small.ini grid.nx=2048 grid.ny=1024 grid.lx=200 grid.ly=200 "
                        "species.protons.particles_per_cell=1 species.protons.density=1+0.1*sin(x)*cos(y)");
    if (code == 2)
        cli_has(cli.err, "not enough memory"); /* a machine with little memory */
    else
        cli_has(cli.out, "the values below are from 1024 x 1024 points");
    cli_has(code == 2 ? "protons: 2.097 M particles" : cli.out, "protons: 2.097 M particles");
    ck_assert_msg(lm_clock() - start < 30, "%g s", lm_clock() - start);
}
END_TEST

static void make_growing(void)
{
    char text[2048];
    snprintf(text, sizeof text, "%s[ionisation.i]\nspecies = protons\nrate = 100\n", cli_small);
    make_file("growing.ini", text);
}

/* A run whose number of particles grows stops before the memory is used up. On another machine it goes on with the
 * same bits as without the stop. */
START_TEST(growing)
{
    char checkpoint[128];
    int step = -1;
    make_growing();
    if (!CAN_LIMIT)
        return;
    cli.prepare = limit_memory_to_400;
    CLI(3, "run growing.ini --quiet output.series_every=1 --output u species.protons.particles_per_cell=1000 "
           "run.steps=2000");
    const char *at = strstr(cli.err, "stopped at step ");
    ck_assert_msg(at && sscanf(at, "stopped at step %d: not enough memory", &step) == 1, "%s", cli.err);
    cli_has(cli.err, "; go on with --restart u/checkpoints/checkpoint_");
    char *json = cli_read("u/run.json");
    cli_has(json, "\"ended\": \"not enough memory: ");
    free(json);
    snprintf(checkpoint, sizeof checkpoint, "u/checkpoints/checkpoint_%08d.h5", step);
    cli.prepare = limit_memory_to_300;
    CLI(2,
        "run growing.ini --quiet output.series_every=1 --output w species.protons.particles_per_cell=1000 "
        "run.steps=2000 --restart %s",
        checkpoint);
    cli_has(cli.err, "not enough memory");
    ck_assert(!cli_exists("w"));
    cli.prepare = NULL;
    CLI(0,
        "run growing.ini --quiet output.series_every=1 --output u species.protons.particles_per_cell=1000 --steps %d "
        "--restart %s",
        step + 2, checkpoint);
    CLI(0,
        "run growing.ini --quiet output.series_every=1 --output v species.protons.particles_per_cell=1000 --steps %d",
        step + 2);
    ck_assert_str_eq(cli_fingerprint("u"), cli_fingerprint("v"));
    char *stopped = cli_read("u/series.csv"), *straight = cli_read("v/series.csv");
    ck_assert_int_eq(cli_lines(stopped), cli_lines(straight));
    free(stopped);
    free(straight);
}
END_TEST

/* check warns that the memory will not be enough for the whole run. */
START_TEST(growth_is_foreseen)
{
    make_growing();
    CLI(4, "check growing.ini run.steps=1000000000 species.protons.particles_per_cell=1000");
    cli_has(cli.err, "memory with all that are born, GiB");
    cli_has(cli.out, "lower the rate of ionisation");
}
END_TEST

/* --- paths that are no regular files --- */

static void no_waiting(void)
{
    alarm(20); /* a call that hangs is ended after this time */
}

static void make_odd_files(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    ck_assert_int_eq(mkfifo(scratch_path("pipe"), 0666), 0);
    ck_assert_int_eq(mkdir(scratch_path("folder"), 0777), 0);
    ck_assert_int_eq(symlink("/dev/zero", scratch_path("device")), 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%.90s/socket", scratch);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    close(fd);
}

static const char *const odd[] = {"pipe", "folder", "device", "socket"};
static const char *const are[] = {"a pipe (FIFO)", "a directory", "a device", "a socket"};

START_TEST(odd_files)
{
    static const char *const keys[][2] = {
        {"[background.g]\nkind = neutral_gas\ninitial = 1\n[species.q]\ngas = g\nstopping_table = ", "\n"},
        {"[body.m]\nshape = mask\nfile = ", "\n"},
        {"[body.m]\nshape = mask\ndataset = a\nfile = ", "\n"}};
    char text[2048], place[128];
    make_odd_files();
    cli.prepare = no_waiting;
    snprintf(place, sizeof place, "%s: not a regular file but %s; name a file", odd[_i], are[_i]);
    both_refuse(2, odd[_i], place);
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "%s%s%s%s", cli_small, keys[k][0], odd[_i], keys[k][1]);
        make_file("odd.ini", text);
        both_refuse(2, "odd.ini", k < 2 ? place : odd[_i]);
    }
    snprintf(text, sizeof text, "run small.ini --output new --restart %s", odd[_i]);
    cli_refuses(text, odd[_i], NULL);
    snprintf(text, sizeof text, "info %s", odd[_i]);
    cli_refuses(text, odd[_i], NULL);
    snprintf(text, sizeof text, "fingerprint %s", odd[_i]);
    cli_refuses(text, odd[_i], NULL);
    ck_assert_int_eq(mkdir(scratch_path("taken"), 0777), 0);
    snprintf(text, sizeof text, "%s/taken/run.ini", scratch);
    snprintf(place, sizeof place, "%s", scratch_path(odd[_i]));
    ck_assert_int_eq(symlink(place, text), 0);
    cli_refuses("run small.ini --output taken --overwrite", "taken: exists and is not the output of a run", NULL);
}
END_TEST

/* A restart reads the series in its directory. If that is a pipe, the restart must refuse it and not wait for data. */
START_TEST(a_pipe_for_a_series)
{
    make_odd_files();
    CLI(0, "run small.ini --quiet --output whole output.checkpoint_every=20");
    ck_assert_int_eq(unlink(scratch_path("whole/series.csv")), 0);
    ck_assert_int_eq(mkfifo(scratch_path("whole/series.csv"), 0666), 0);
    cli.prepare = no_waiting;
    CLI(2, "run small.ini --quiet --output whole --restart whole/checkpoints/checkpoint_00000020.h5");
    cli_has(cli.err, "series.csv: not a regular file but a pipe (FIFO)");
}
END_TEST

START_TEST(repeated_heads)
{
    static const char *const heads[][2] = {
        {"# source = a\n# energy = normalized\n# energy = normalized\n# stopping = normalized\n",
         "table.txt:3: `# energy =` is given twice, first on line 2"},
        {"# source = a\n# stopping = normalized\n# energy = normalized\n# source = b\n",
         "table.txt:4: `# source =` is given twice, first on line 1"}};
    char text[2048];
    snprintf(text, sizeof text, "%s1 1\n2 1\n", heads[_i][0]);
    make_file("table.txt", text);
    snprintf(text, sizeof text,
             "%s[background.g]\nkind = neutral_gas\ninitial = 1\n[species.q]\ngas = g\nstopping_table = table.txt\n",
             cli_small);
    make_file("table.ini", text);
    both_refuse(2, "table.ini", heads[_i][1]);
}
END_TEST

#define COUNT(table) (int)(sizeof table / sizeof *table)

int main(void)
{
    Suite *suite = suite_create("larmor check");
    TCase *t = tcase_create("check and run agree");
    tcase_add_checked_fixture(t, cli_setup, scratch_remove);
    tcase_set_timeout(t, 180);
    tcase_add_loop_test(t, nothing_can_begin, 0, COUNT(impossible));
    tcase_add_test(t, ranks_hold_more_particles);
    tcase_add_test(t, first_step_cannot_be_taken);
    tcase_add_loop_test(t, wrong_sections, 0, COUNT(fields));
    tcase_add_test(t, repeated_keys);
    tcase_add_test(t, limits);
    tcase_add_test(t, corners_of_radiating_sides);
    tcase_add_test(t, short_whistlers);
    tcase_add_test(t, sides_that_the_flow_chose);
    tcase_add_test(t, dense_layer);
    tcase_add_test(t, few_ions_of_one_species);
    tcase_add_test(t, out_of_bounds);
    tcase_add_loop_test(t, advice, 0, 5);
    tcase_add_loop_test(t, odd_files, 0, COUNT(odd));
    tcase_add_test(t, a_pipe_for_a_series);
    tcase_add_test(t, disk);
    tcase_add_test(t, time_of_a_run);
    tcase_add_loop_test(t, repeated_heads, 0, 2);
    suite_add_tcase(suite, t);
    TCase *memory = tcase_create("memory");
    tcase_add_checked_fixture(memory, cli_setup, scratch_remove);
    tcase_set_timeout(memory, 180);
    tcase_add_test(memory, too_much_memory);
    tcase_add_test(memory, large_grid);
    tcase_add_test(memory, many_cells);
    tcase_add_test(memory, growing);
    tcase_add_test(memory, growth_is_foreseen);
    suite_add_tcase(suite, memory);
    return cli_main(suite);
}
