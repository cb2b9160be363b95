/* Maps of the particles that hit sides and bodies: DIR/maps/maps_STEP.h5.
 *
 * The file has a group for each surface (x_min, body_NAME). The group has a dataset hits_SPECIES [face][angle][energy]
 * for each species. For each face it also has the middle x, y, the unit normal that points into the plasma, and the
 * length. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/h5.h"
#include "config/facts.h"
#include "larmor/physics/particles/cut.h"
#include "larmor/physics/particles/hit_map.h"
#include "output/output.h"

enum { MAPS_VERSION = 1, FACE_COLUMNS = 5 };

struct source {
    const struct lm_sim *sim;
    const struct lm_config *config;
    const struct lm_map_bins *bins;
    struct lm_sim_status now;
};

static void put_list(struct lm_h5 *h, hid_t at, const char *name, const char *units, const char *about, hsize_t count,
                     const double *values)
{
    hid_t data = lm_h5_make_dataset(h, at, name, H5T_NATIVE_DOUBLE, 1, &count, 0);
    lm_h5_write_rows(h, data, H5T_NATIVE_DOUBLE, 0, count, values);
    lm_h5_put_text(h, data, "units", units);
    lm_h5_put_text(h, data, "description", about);
    lm_h5_end(data);
}

static void put_root(struct lm_h5 *h, const struct lm_sim_status *now)
{
    lm_h5_put_text(h, h->file, "format", "larmor-maps");
    lm_h5_put_whole(h, h->file, "format_version", MAPS_VERSION);
    lm_h5_put_text(h, h->file, "software", "larmor " LM_VERSION);
    lm_h5_put_whole(h, h->file, "step", now->step);
    lm_h5_put_real(h, h->file, "time", now->time);
    lm_h5_put_text(h, h->file, "time_units", "1/Omega_ci");
    lm_h5_put_text(h, h->file, "description",
                   "hits_SPECIES [face][angle][energy] counts particles, since the run began: every hit of a particle "
                   "on the surface in a step, absorbed, re-emitted and reflected alike, at most 8 a particle and step, "
                   "with the velocity before the hit. Particles that enter are not counted.");
}

/* Writes the edges of the bins of angle and energy. */
static void put_edges(struct lm_h5 *h, const struct lm_map_bins *m, double *work)
{
    for (int k = 0; k <= m->angles; k++)
        work[k] = 90.0 * k / m->angles;
    put_list(h, h->file, "angle_edges", "degrees",
             "between velocity and normal, 0: straight onto the face; bin k lies between edges k and k + 1",
             (hsize_t)m->angles + 1, work);
    put_list(h, h->file, "energy_edges", "m_p v_A^2",
             "kinetic energy of an ion; bin 0 lies below the first edge, bin k from edge k - 1 to edge k, the last bin "
             "at and above the last edge",
             (hsize_t)m->energies + 1, m->energy);
}

/* The same of the line in a cut cell, whose lower left corner is at (x, y), in cells. */
static void place_line(const struct lm_grid *g, const struct lm_body_cut *cut, double x, double y,
                       double out[FACE_COLUMNS])
{
    int64_t p[2], q[2];
    lm_cut_end(cut->from, p);
    lm_cut_end(cut->to, q);
    const double width = (double)(q[0] - p[0]) / LM_CUT_ONE * g->dx,
                 height = (double)(q[1] - p[1]) / LM_CUT_ONE * g->dy;
    out[0] = (x + 0.5 * (double)(p[0] + q[0]) / LM_CUT_ONE) * g->dx;
    out[1] = (y + 0.5 * (double)(p[1] + q[1]) / LM_CUT_ONE) * g->dy;
    out[4] = sqrt(width * width + height * height);
    out[2] = -height / out[4];
    out[3] = width / out[4];
}

/* The middle, the normal into the plasma and the length of a face. Faces have the numbers of struct lm_hit. */
static void place_face(const struct lm_grid *g, const struct lm_obstacles *obstacles, int surface, uint32_t face,
                       double out[FACE_COLUMNS])
{
    const uint32_t nx = (uint32_t)g->nx, cell = face / 4;
    const int is_side = surface < LM_SIDES, direction = is_side ? surface : (int)(face % 4);
    const int up = direction % 2, along_y = direction < LM_Y_MIN;
    const double outward = up ? 1 : -1, normal = is_side ? -outward : outward;
    double x = is_side ? 0 : cell % nx, y = is_side ? 0 : cell / nx; /* the cell's lower left corner */
    if (!is_side && obstacles->of[cell] & LM_CUT) {
        place_line(g, &obstacles->cut[cell], x, y, out);
        return;
    }
    if (is_side && along_y)
        x = up ? g->nx : 0, y = face;
    else if (is_side)
        x = face, y = up ? g->ny : 0;
    else if (up)
        x += along_y, y += !along_y;
    out[0] = (x + (along_y ? 0 : 0.5)) * g->dx;
    out[1] = (y + (along_y ? 0.5 : 0)) * g->dy;
    out[2] = along_y ? normal : 0;
    out[3] = along_y ? 0 : normal;
    out[4] = along_y ? g->dy : g->dx;
}

static void put_faces(struct lm_h5 *h, hid_t group, const struct source *from, int surface, double *work)
{
    static const char *const names[FACE_COLUMNS][3] = {
        {"x", "d_i", "middle of the face"},
        {"y", "d_i", "middle of the face"},
        {"normal_x", "", "unit normal, out of the surface into the plasma"},
        {"normal_y", "", "unit normal, out of the surface into the plasma"},
        {"length", "d_i", "of the face"}};
    const struct lm_grid grid = lm_config_grid(from->config);
    const struct lm_obstacles obstacles = lm_sim_obstacles(from->sim);
    const uint32_t first = from->bins->first[surface], count = from->bins->first[surface + 1] - first;
    for (int column = 0; column < FACE_COLUMNS; column++) {
        for (uint32_t n = 0; n < count; n++) {
            double face[FACE_COLUMNS];
            place_face(&grid, &obstacles, surface, from->bins->faces[first + n], face);
            work[n] = face[column];
        }
        put_list(h, group, names[column][0], names[column][1], names[column][2], count, work);
    }
}

static void put_hits(struct lm_h5 *h, const struct source *from, int surface, int species, const uint64_t *map)
{
    const struct lm_species_config *s = &from->config->species[species];
    const struct lm_map_bins *m = from->bins;
    const hsize_t dims[3] = {m->first[surface + 1] - m->first[surface], (hsize_t)m->angles, lm_map_energies(m)};
    char group_name[LM_SURFACE_NAME], name[LM_MAX_NAME + 8];
    if (dims[0] == 0)
        return;
    lm_surface_name(from->config, surface, group_name);
    snprintf(name, sizeof name, "hits_%s", s->name);
    hid_t group = lm_h5_group(h, h->file, group_name);
    hid_t data = lm_h5_make_dataset(h, group, name, H5T_NATIVE_UINT64, 3, dims, from->config->output.compress);
    if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                       map + m->first[surface] * dims[1] * dims[2]) < 0)
        lm_h5_error(h, "cannot write the map %s", name);
    lm_h5_put_text(h, data, "units", "");
    lm_h5_put_text(h, data, "description", "particles that have hit [face][angle][energy]");
    lm_h5_put_real(h, data, "weight", from->now.species[species].weight);
    lm_h5_put_text(h, data, "weight_units", "n0 d_i^2");
    lm_h5_put_real(h, data, "mass", s->mass);
    lm_h5_put_text(h, data, "mass_units", "m_p");
    lm_h5_end(data);
    lm_h5_end(group);
}

static void put_surfaces(struct lm_h5 *h, const struct source *from, double *work)
{
    for (int surface = 0; surface < LM_SURFACES && h->status == LM_OK; surface++) {
        char name[LM_SURFACE_NAME];
        if (from->bins->first[surface] == from->bins->first[surface + 1])
            continue;
        lm_surface_name(from->config, surface, name);
        hid_t group = lm_h5_make_group(h, h->file, name);
        const int kind =
            surface < LM_SIDES ? from->config->boundary[surface] : from->config->body[surface - LM_SIDES].particles;
        lm_h5_put_text(h, group, "particles", lm_boundary_names[kind]);
        put_faces(h, group, from, surface, work);
        lm_h5_end(group);
    }
}

static int write_all(struct lm_h5 *h, struct lm_sim *sim, const struct source *from, double *work, uint64_t *map)
{
    put_root(h, &from->now);
    put_edges(h, from->bins, work);
    put_surfaces(h, from, work);
    for (int s = 0; s < from->config->species_count && h->status == LM_OK; s++) {
        h->status = lm_sim_get_map(sim, s, map);
        for (int surface = 0; surface < LM_SURFACES; surface++)
            put_hits(h, from, surface, s, map);
    }
    return lm_h5_finish(h, 1);
}

int lm_output_maps(struct lm_sim *sim, const struct lm_config *config)
{
    struct source from = {.sim = sim, .config = config, .bins = lm_sim_map_bins(sim)};
    const uint64_t size = lm_map_size(from.bins);
    char folder[LM_MAX_PATH], path[LM_MAX_PATH];
    struct lm_h5 h;
    if (size == 0)
        return LM_OK;
    lm_sim_status(sim, &from.now);
    int status = lm_path(folder, "%s/maps", config->output.directory);
    if (!status)
        status = lm_path(path, "%s/maps_%08" PRId64 ".h5", folder, from.now.step);
    if (!status)
        status = lm_h5_directory(folder);
    if (status)
        return status;
    uint64_t *map = malloc(size * sizeof *map);
    double *work = malloc((from.bins->first[LM_SURFACES] + (size_t)from.bins->angles + 1) * sizeof *work);
    if (!map || !work)
        status = lm_fail(LM_FAILED, "not enough memory for maps of where particles hit");
    else
        status = lm_h5_create(&h, path) ? h.status : write_all(&h, sim, &from, work, map);
    free(map);
    free(work);
    return status;
}
