#include "inside.h"
#include "output/openpmd.h"

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "attributes.h"
#include "checkpoint/checkpoint.h"
#include "scratch.h"
#include "suite.h"

enum { NX = 6, NY = 4 };

static struct lm_openpmd_run run;
static double *arrays[8];

/* The value of array k in cell (i, j). Ghost cells have other values. */
static double value_at(int k, int i, int j)
{
    return 100.0 * k + 10.0 * j + i + 0.25;
}

static void set_up(void)
{
    scratch_make();
    run = (struct lm_openpmd_run){.directory = scratch,
                                  .grid = lm_grid_make(NX, NY, 3.0, 1.0),
                                  .units = lm_units_make(5e-9, 5e6),
                                  .dt = 0.02,
                                  .shape = 2,
                                  .smoothing = 1,
                                  .boundary = {"periodic", "open", "conducting", "inflow"},
                                  .particle_boundary = {"periodic", "absorbing", "thermal", "reflecting"},
                                  .solver_parameters = "Ohm's law"};
    for (int k = 0; k < 8; k++) {
        arrays[k] = malloc(run.grid.size * sizeof(double));
        for (size_t c = 0; c < run.grid.size; c++)
            arrays[k][c] = -7e7;
        for (int j = 0; j < NY; j++)
            for (int i = 0; i < NX; i++)
                arrays[k][lm_at(&run.grid, i, j)] = value_at(k, i, j);
    }
}

static void tear_down(void)
{
    for (int k = 0; k < 8; k++)
        free(arrays[k]);
    scratch_remove();
}

enum { MESHES = 8 };

static void make_meshes(struct lm_mesh *m)
{
    m[0] = (struct lm_mesh){"E", "x", LM_MESH_E, {0.5, 0.0}, 0.0, 0, arrays[0]};
    m[1] = (struct lm_mesh){"E", "y", LM_MESH_E, {0.0, 0.5}, 0.0, 0, arrays[1]};
    m[2] = (struct lm_mesh){"E", "z", LM_MESH_E, {0.0, 0.0}, 0.0, 0, arrays[2]};
    m[3] = (struct lm_mesh){"B", "z", LM_MESH_B, {0.5, 0.5}, 0.0, 0, arrays[3]};
    m[4] = (struct lm_mesh){"J", "x", LM_MESH_J, {0.5, 0.0}, -0.01, 0, arrays[4]};
    m[5] = (struct lm_mesh){"rho", NULL, LM_MESH_CHARGE_DENSITY, {0.0, 0.0}, 0.0, 1, arrays[5]};
    m[6] = (struct lm_mesh){"n_protons", NULL, LM_MESH_DENSITY, {0.0, 0.0}, 0.0, 0, arrays[6]};
    m[7] = (struct lm_mesh){"p_e", NULL, LM_MESH_PRESSURE, {0.0, 0.0}, 0.0, 0, arrays[7]};
}

static hid_t write_fields(int64_t step)
{
    struct lm_mesh m[MESHES];
    char path[LM_MAX_PATH];
    make_meshes(m);
    ck_assert_msg(lm_openpmd_fields(&run, "fields/data", step, 0.84, MESHES, m, NULL) == LM_OK, "%s", lm_error());
    snprintf(path, sizeof path, "%s/fields/data_%08lld.h5", scratch, (long long)step);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

static void assert_position(hid_t file, const char *object, double y, double x)
{
    assert_reals(file, object, "position", 2, (double[]){y, x});
}

static void assert_data(hid_t file, const char *object, int k)
{
    double out[NY][NX];
    hid_t data = H5Dopen2(file, object, H5P_DEFAULT), space = H5Dget_space(data);
    hsize_t dims[2];
    ck_assert_int_eq(H5Sget_simple_extent_ndims(space), 2);
    H5Sget_simple_extent_dims(space, dims, NULL);
    ck_assert_uint_eq(dims[0], NY);
    ck_assert_uint_eq(dims[1], NX);
    ck_assert(H5Tequal(H5Dget_type(data), H5T_NATIVE_DOUBLE) > 0);
    H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            ck_assert_msg(out[j][i] == value_at(k, i, j), "%s (%d, %d): %g", object, i, j, out[j][i]);
}

/* --- tests --- */

START_TEST(units_are_those_of_the_reference_plasma)
{
    /* 5 nT and 5 protons per cm^3, the solar wind: v_A = 48.8 km/s, d_i = 101.8 km, Omega_ci = 0.479/s */
    struct lm_units u = lm_units_make(5e-9, 5e6);
    ck_assert_double_eq_tol(u.velocity / 48775.0, 1.0, 1e-3);
    ck_assert_double_eq_tol(u.length / 101835.0, 1.0, 1e-3);
    ck_assert_double_eq_tol(u.time * 0.478942, 1.0, 1e-4);
    ck_assert_double_eq_tol(u.length / (u.velocity * u.time), 1.0, 1e-14);
    ck_assert_double_eq_tol(u.electric / (u.velocity * 5e-9), 1.0, 1e-14);
    /* curl B / mu0 in normalised units is J: B0 / (mu0 d_i) = e n0 v_A */
    ck_assert_double_eq_tol(u.pressure / (u.magnetic * u.length * u.current), 1.0, 1e-14);
    /* momentum flux: n0 m_p v_A^2 = B0^2/mu0 */
    ck_assert_double_eq_tol(u.pressure / (u.density * u.momentum * u.velocity), 1.0, 1e-14);
    ck_assert_double_eq_tol(u.mass / 1.6726e-27, 1.0, 1e-4);
    ck_assert_double_eq_tol(u.charge / 1.6022e-19, 1.0, 1e-4);
    u = lm_units_make(0.0, 0.0);
    ck_assert(!u.is_si && u.length == 1 && u.time == 1 && u.magnetic == 1 && u.pressure == 1 && u.momentum == 1);
}
END_TEST

START_TEST(the_file_says_what_it_is)
{
    hid_t file = write_fields(42);
    assert_text(file, "/", "openPMD", "1.1.0");
    assert_whole(file, "/", "openPMDextension", H5T_NATIVE_UINT32, 0, 1);
    assert_text(file, "/", "basePath", "/data/%T/");
    assert_text(file, "/", "meshesPath", "meshes/");
    assert_text(file, "/", "iterationEncoding", "fileBased");
    assert_text(file, "/", "iterationFormat", "data_%T.h5");
    assert_text(file, "/", "software", "larmor");
    ck_assert_uint_eq(strlen(text(file, "/", "date")), strlen("2020-01-01 00:00:00 +0000"));
    ck_assert_int_eq(H5Aexists(file, "particlesPath"), 0);
    assert_real(file, "/data/42", "time", 0.84);
    assert_real(file, "/data/42", "dt", 0.02);
    assert_real(file, "/data/42", "timeUnitSI", run.units.time);
    H5Fclose(file);
    ck_assert_int_ne(access(scratch_path("fields/data_00000042.h5.part"), F_OK), 0);
}
END_TEST

START_TEST(the_solver_is_described)
{
    const char *fields[4] = {"reflecting", "other", "periodic", "open"};
    const char *particles[4] = {"reinjecting", "reflecting", "periodic", "absorbing"};
    const char *ours[4] = {"conducting", "inflow", "periodic", "open"};
    hid_t file = write_fields(0);
    const char *meshes = "/data/0/meshes";
    assert_text(file, meshes, "fieldSolver", "other");
    assert_text(file, meshes, "fieldSolverParameters", "Ohm's law");
    assert_texts(file, meshes, "fieldBoundary", 4, fields);
    assert_texts(file, meshes, "fieldBoundaryParameters", 4, ours);
    assert_texts(file, meshes, "particleBoundary", 4, particles);
    assert_text(file, meshes, "currentSmoothing", "Binomial");
    assert_text(file, meshes, "currentSmoothingParameters", "period=1;numPasses=1;compensator=false");
    assert_text(file, meshes, "chargeCorrection", "none");
    H5Fclose(file);
}
END_TEST

START_TEST(records_have_axes_units_and_places)
{
    const char *axes[2] = {"y", "x"};
    hid_t file = write_fields(7);
    const struct {
        const char *name;
        double si, powers[7], time_offset;
    } records[] = {
        {"E", run.units.velocity * 5e-9, {1, 1, -3, -1}, 0},
        {"B", 5e-9, {0, 1, -2, -1}, 0},
        {"J", 1.602176634e-19 * 5e6 * run.units.velocity, {-2, 0, 0, 1}, -0.01},
        {"rho", 1.602176634e-19 * 5e6, {-3, 0, 1, 1}, 0},
        {"n_protons", 5e6, {-3}, 0},
        {"p_e", 25e-18 / 1.25663706127e-6, {-1, 1, -2}, 0},
    };
    for (size_t r = 0; r < 6; r++) {
        char path[64], component[80];
        snprintf(path, sizeof path, "/data/7/meshes/%s", records[r].name);
        assert_text(file, path, "geometry", "cartesian");
        assert_text(file, path, "dataOrder", "C");
        assert_texts(file, path, "axisLabels", 2, axes);
        assert_reals(file, path, "gridSpacing", 2, (double[]){0.25, 0.5});
        assert_reals(file, path, "gridGlobalOffset", 2, (double[]){0.125, 0.25});
        assert_real(file, path, "gridUnitSI", run.units.length);
        assert_reals(file, path, "unitDimension", 7, records[r].powers);
        assert_real(file, path, "timeOffset", records[r].time_offset);
        assert_text(file, path, "fieldSmoothing", strcmp(records[r].name, "rho") ? "none" : "Binomial");
        snprintf(component, sizeof component, "%s%s", path, r == 0 || r == 2 ? "/x" : r == 1 ? "/z" : "");
        assert_real(file, component, "unitSI", records[r].si);
    }
    assert_position(file, "/data/7/meshes/E/x", 0.0, 0.5);
    assert_position(file, "/data/7/meshes/E/y", 0.5, 0.0);
    assert_position(file, "/data/7/meshes/E/z", 0.0, 0.0);
    assert_position(file, "/data/7/meshes/B/z", 0.5, 0.5);
    assert_position(file, "/data/7/meshes/rho", 0.0, 0.0);
    H5Fclose(file);
}
END_TEST

static void assert_all_data(hid_t file)
{
    static const char *const names[MESHES] = {"E/x", "E/y", "E/z", "B/z", "J/x", "rho", "n_protons", "p_e"};
    for (int k = 0; k < MESHES; k++) {
        char path[64];
        snprintf(path, sizeof path, "/data/1/meshes/%s", names[k]);
        assert_data(file, path, k);
    }
}

START_TEST(meshes_have_the_cells_without_ghosts)
{
    for (run.compress = 0; run.compress < 3; run.compress += 2) {
        hid_t file = write_fields(1);
        assert_all_data(file);
        hid_t data = H5Dopen2(file, "/data/1/meshes/E/x", H5P_DEFAULT), list = H5Dget_create_plist(data);
        ck_assert_int_eq(H5Pget_layout(list), run.compress ? H5D_CHUNKED : H5D_CONTIGUOUS);
        ck_assert_int_eq(H5Pget_nfilters(list), run.compress ? 2 : 0);
        H5Pclose(list);
        H5Dclose(data);
        H5Fclose(file);
    }
}
END_TEST

/* --- particles --- */

enum { MANY = (1 << 20) + 5 };

static double particle(int species, int column, uint64_t i)
{
    return (double)(species + 1) * 0.25 + 0.125 * column + 1e-7 * (double)i;
}

static int read_particles(void *context, int species, uint64_t first, uint64_t count, double *x, double *y, double *u,
                          double *v, double *w)
{
    double *const out[5] = {x, y, u, v, w};
    int *calls = context;
    ck_assert_uint_le(count, 1 << 20);
    ++*calls;
    for (int k = 0; k < 5; k++)
        for (uint64_t i = 0; i < count; i++)
            out[k][i] = particle(species, k, first + i);
    return LM_OK;
}

static const struct lm_openpmd_species species[3] = {
    {"protons", 1.0, 1.0, 0.03125, 40}, {"none_yet", 2.0, 4.0, 0.5, 0}, {"alphas", 2.0, 4.0, 0.0078125, MANY}};

static hid_t write_particles(int count)
{
    int calls = 0;
    const struct lm_openpmd_particles all = {count, species, read_particles, &calls};
    ck_assert_msg(lm_openpmd_particles(&run, 12, 0.24, &all) == LM_OK, "%s", lm_error());
    ck_assert_int_eq(calls, count == 3 ? 3 : count > 0);
    hid_t file = H5Fopen(scratch_path("particles/data_00000012.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert_int_ge(file, 0);
    return file;
}

static void assert_column(hid_t file, const char *path, int s, int k, double factor)
{
    hid_t data = H5Dopen2(file, path, H5P_DEFAULT);
    ck_assert_msg(data >= 0, "no %s", path);
    uint64_t count = species[s].count;
    double *out = malloc((count + 1) * sizeof *out);
    ck_assert_int_eq(H5Sget_simple_extent_ndims(H5Dget_space(data)), 1);
    ck_assert_uint_eq((uint64_t)H5Sget_simple_extent_npoints(H5Dget_space(data)), count);
    H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    for (uint64_t i = 0; i < count; i++)
        if (out[i] != factor * particle(s, k, i))
            ck_abort_msg("%s[%lu] is %g", path, (unsigned long)i, out[i]);
    free(out);
}

static void assert_record(hid_t file, const char *path, const double *powers, double power, uint64_t macro,
                          double time_offset)
{
    assert_reals(file, path, "unitDimension", 7, powers);
    assert_real(file, path, "weightingPower", power);
    assert_whole(file, path, "macroWeighted", H5T_NATIVE_UINT32, 0, macro);
    assert_real(file, path, "timeOffset", time_offset);
}

static void assert_constant(hid_t file, const char *path, double value, double si, uint64_t count)
{
    H5O_info_t info;
    H5Oget_info_by_name(file, path, &info, H5P_DEFAULT);
    ck_assert_int_eq(info.type, H5O_TYPE_GROUP);
    assert_real(file, path, "value", value);
    assert_real(file, path, "unitSI", si);
    assert_whole(file, path, "shape", H5T_NATIVE_UINT64, 1, count);
}

/* The path of a record of species s. It stays valid until the next call. */
static const char *in(int s, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "/data/12/particles/%s/%s", species[s].name, name);
    return path;
}

static void assert_species(hid_t file, int s)
{
    static const double length[7] = {1}, momentum[7] = {1, 1, -1}, mass[7] = {0, 1}, charge[7] = {0, 0, 1, 1}, none[7];
    static const char *const names[5] = {"position/x", "position/y", "momentum/x", "momentum/y", "momentum/z"};
    const struct lm_openpmd_species *sp = &species[s];
    for (int k = 0; k < 5; k++) {
        assert_column(file, in(s, names[k]), s, k, k < 2 ? 1.0 : sp->mass);
        assert_real(file, in(s, names[k]), "unitSI", k < 2 ? run.units.length : run.units.momentum);
    }
    assert_record(file, in(s, "position"), length, 0.0, 0, 0.0);
    assert_record(file, in(s, "momentum"), momentum, 1.0, 0, -0.01);
    assert_record(file, in(s, "charge"), charge, 1.0, 0, 0.0);
    assert_record(file, in(s, "mass"), mass, 1.0, 0, 0.0);
    assert_record(file, in(s, "weighting"), none, 1.0, 1, 0.0);
    assert_record(file, in(s, "positionOffset"), length, 0.0, 0, 0.0);
    assert_constant(file, in(s, "charge"), sp->charge, run.units.charge, sp->count);
    assert_constant(file, in(s, "mass"), sp->mass, run.units.mass, sp->count);
    double metre = sp->weight * 5e6 * run.units.length * run.units.length; /* weights are ions per metre along z */
    assert_constant(file, in(s, "weighting"), metre, 1.0, sp->count);
    assert_constant(file, in(s, "positionOffset/x"), 0.0, run.units.length, sp->count);
    assert_constant(file, in(s, "positionOffset/y"), 0.0, run.units.length, sp->count);
    assert_real(file, in(s, ""), "particleShape", 2.0);
    assert_text(file, in(s, ""), "particlePush", "Boris");
    assert_text(file, in(s, ""), "particleInterpolation", "uniform");
    assert_text(file, in(s, ""), "particleSmoothing", "Binomial");
    assert_text(file, in(s, ""), "currentDeposition", "other");
    ck_assert_int_eq(H5Lexists(file, in(s, "id"), H5P_DEFAULT), 0);
}

START_TEST(particles_have_values_units_and_weights)
{
    hid_t file = write_particles(3);
    assert_text(file, "/", "particlesPath", "particles/");
    ck_assert_int_eq(H5Aexists(file, "meshesPath"), 0);
    for (int s = 0; s < 3; s++)
        assert_species(file, s);
    H5Fclose(file);
}
END_TEST

static long size_of(const char *name)
{
    struct stat info;
    return stat(scratch_path(name), &info) ? -1 : (long)info.st_size;
}

/* The values are the same. Pieces in which particles are written end where chunks do. A species without particles has
 * no chunks. */
START_TEST(compressed_particles)
{
    H5Fclose(write_particles(3));
    const long plain = size_of("particles/data_00000012.h5");
    static const hsize_t chunks[3] = {40, 0, 1 << 17};
    run.compress = 4;
    hid_t file = write_particles(3);
    for (int s = 0; s < 3; s++) {
        hid_t data = H5Dopen2(file, in(s, "momentum/y"), H5P_DEFAULT), list = H5Dget_create_plist(data);
        hsize_t chunk = 0;
        assert_species(file, s);
        ck_assert_int_eq(H5Pget_nfilters(list), s == 1 ? 0 : 2);
        H5Pget_chunk(list, 1, &chunk); /* fails where there are none */
        ck_assert_uint_eq(chunk, chunks[s]);
        H5Pclose(list);
        H5Dclose(data);
    }
    H5Fclose(file);
    ck_assert_int_lt(size_of("particles/data_00000012.h5"), plain / 2);
}
END_TEST

START_TEST(particles_in_a_file_of_fields)
{
    int calls = 0;
    struct lm_mesh m[MESHES];
    const struct lm_openpmd_particles all = {3, species, read_particles, &calls};
    make_meshes(m);
    ck_assert_msg(lm_openpmd_fields(&run, "fields/data", 12, 0.24, MESHES, m, &all) == LM_OK, "%s", lm_error());
    hid_t file = H5Fopen(scratch_path("fields/data_00000012.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_text(file, "/", "meshesPath", "meshes/");
    assert_text(file, "/", "particlesPath", "particles/");
    assert_text(file, "/", "iterationFormat", "data_%T.h5");
    assert_data(file, "/data/12/meshes/p_e", 7);
    for (int s = 0; s < 3; s++)
        assert_species(file, s);
    H5Fclose(file);
}
END_TEST

static void assert_patch(hid_t file, int s, const char *name, double expected)
{
    char path[128];
    double out = -1.0;
    snprintf(path, sizeof path, "/data/12/particles/%s/particlePatches/%s", species[s].name, name);
    hid_t data = H5Dopen2(file, path, H5P_DEFAULT);
    ck_assert_msg(data >= 0, "no %s", path);
    ck_assert_int_eq(H5Sget_simple_extent_npoints(H5Dget_space(data)), 1);
    H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &out);
    ck_assert_msg(out == expected, "%s: %g", path, out);
}

START_TEST(one_patch_covers_the_domain)
{
    hid_t file = write_particles(3);
    for (int s = 0; s < 3; s++) {
        assert_patch(file, s, "numParticles", (double)species[s].count);
        assert_patch(file, s, "numParticlesOffset", 0.0);
        assert_patch(file, s, "offset/x", 0.0);
        assert_patch(file, s, "offset/y", 0.0);
        assert_patch(file, s, "extent/x", 3.0);
        assert_patch(file, s, "extent/y", 1.0);
    }
    H5Fclose(file);
}
END_TEST

START_TEST(no_species_make_a_file_without_particles)
{
    hid_t file = write_particles(0);
    ck_assert_int_eq(H5Aexists(file, "particlesPath"), 0);
    H5Fclose(file);
}
END_TEST

/* --- failures --- */

static int refuse(void *context, int s, uint64_t first, uint64_t count, double *x, double *y, double *u, double *v,
                  double *w)
{
    (void)context, (void)s, (void)first, (void)count, (void)x, (void)y, (void)u, (void)v, (void)w;
    return lm_fail(LM_FAILED, "the device is gone");
}

START_TEST(a_failure_leaves_no_file)
{
    struct lm_mesh m[MESHES];
    make_meshes(m);
    const struct lm_openpmd_particles lost = {1, species, refuse, NULL};
    ck_assert_int_eq(lm_openpmd_particles(&run, 3, 0.0, &lost), LM_FAILED);
    assert_error_has("the device is gone");
    ck_assert_int_ne(access(scratch_path("particles/data_00000003.h5"), F_OK), 0);
    ck_assert_int_ne(access(scratch_path("particles/data_00000003.h5.part"), F_OK), 0);
    ck_assert_int_eq(lm_openpmd_fields(&run, "fields/data", 3, 0.0, MESHES, m, &lost), LM_FAILED);
    assert_error_has("the device is gone");
    struct rlimit limit, full;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    full = limit;
    full.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
    ck_assert_int_eq(lm_openpmd_fields(&run, "fields/data", 3, 0.0, MESHES, m, NULL), LM_FAILED);
    assert_error_has("File too large");
    ck_assert_int_ne(access(scratch_path("fields/data_00000003.h5"), F_OK), 0);
    ck_assert_int_ne(access(scratch_path("fields/data_00000003.h5.part"), F_OK), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    run.directory = "/dev/null/x";
    ck_assert_int_eq(lm_openpmd_fields(&run, "fields/data", 3, 0.0, MESHES, m, NULL), LM_FAILED);
}
END_TEST

START_TEST(info_describes_the_files)
{
    char out[4096] = "";
    FILE *stream = fmemopen(out, sizeof out, "w");
    H5Fclose(write_fields(5));
    H5Fclose(write_particles(3));
    ck_assert_int_eq(lm_info_print(scratch_path("fields/data_00000005.h5"), stream), LM_OK);
    ck_assert_int_eq(lm_info_print(scratch_path("particles/data_00000012.h5"), stream), LM_OK);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(out, "openPMD 1.1.0"));
    ck_assert_ptr_nonnull(strstr(out, "E: x, y, z (4 x 6"));
    ck_assert_ptr_nonnull(strstr(out, "rho (4 x 6"));
    ck_assert_ptr_nonnull(strstr(out, "alphas: 1048581 particles, charge 2 e, mass 4 m_p"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("openpmd");
    TCase *files = tcase_create("openpmd");
    tcase_set_timeout(files, 60);
    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_add_test(files, units_are_those_of_the_reference_plasma);
    tcase_add_test(files, the_file_says_what_it_is);
    tcase_add_test(files, the_solver_is_described);
    tcase_add_test(files, records_have_axes_units_and_places);
    tcase_add_test(files, meshes_have_the_cells_without_ghosts);
    tcase_add_test(files, particles_have_values_units_and_weights);
    tcase_add_test(files, compressed_particles);
    tcase_add_test(files, particles_in_a_file_of_fields);
    tcase_add_test(files, one_patch_covers_the_domain);
    tcase_add_test(files, no_species_make_a_file_without_particles);
    tcase_add_test(files, a_failure_leaves_no_file);
    tcase_add_test(files, info_describes_the_files);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
