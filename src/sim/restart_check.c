/* What a checkpoint holds, what it says of walls, bodies and limits, and whether it is the run's: the ledger and the
 * maps go on only where particles meet the same things. */
#include <stdio.h>
#include <string.h>

#include "backend/field_boundaries.h"
#include "larmor/physics/numerics/hash.h"
#include "sim/restart.h"
#include "config/facts.h"
#include "sim/state.h"

/* Bodies of whole cells have the hash of their mask. */
static uint64_t hash_of_cells(const struct lm_sim *sim)
{
    uint64_t h = 0;
    for (size_t k = 0; sim->mask && k < sim->grid.cells; k++)
        h += sim->mask[k] ? lm_mix((uint64_t)k << 8 | sim->mask[k]) : 0;
    for (size_t k = 0; sim->mask && k < sim->grid.cells; k++)
        if (sim->obstacle[k] != sim->mask[k])
            h +=
                lm_mix(lm_mix((uint64_t)k << 8 | sim->obstacle[k]) ^ (uint64_t)sim->cut[k].from << 32 ^ sim->cut[k].to);
    return h;
}

static void describe_background(const struct lm_sim *sim, int field, struct lm_checkpoint_background *out)
{
    const struct lm_background_config *b = &sim->config->background[field];
    *out = (struct lm_checkpoint_background){.kind = b->kind, .ledger = sim->background[field].ledger};
    snprintf(out->name, sizeof out->name, "%s", b->name);
    for (int side = 0; side < LM_SIDES; side++)
        out->sides[side] = b->sides[side];
}

void lm_sim_describe(const struct lm_sim *sim, struct lm_checkpoint *head)
{
    const struct lm_config *c = sim->config;
    struct lm_checkpoint_surfaces *s = &head->surfaces;
    *s = (struct lm_checkpoint_surfaces){.body_count = c->body_count, .body_cells = hash_of_cells(sim)};
    for (int side = 0; side < LM_SIDES; side++)
        s->sides[side] = c->boundary[side];
    for (int k = 0; k < c->body_count; k++) {
        snprintf(s->body_names[k], sizeof s->body_names[k], "%s", c->body[k].name);
        s->body_particles[k] = c->body[k].particles;
    }
    if (sim->maps.angles > 0) {
        s->map_angles = sim->maps.angles;
        s->map_energies = sim->maps.energies;
        s->map_energy[0] = c->output.map_energy[0];
        s->map_energy[1] = c->output.map_energy[1];
        s->map_faces = sim->maps.first[LM_SURFACES];
    }
    head->background_count = c->background_count;
    for (int k = 0; k < c->background_count; k++)
        describe_background(sim, k, &head->background[k]);
    head->electrons_gamma = lm_entropy_field(c) >= 0 ? c->electrons.gamma : 0;
    head->electrons_heat = sim->electrons.heat;
    head->electrons_through_surfaces = sim->electrons.through_surfaces;
    for (int k = 0; k < c->species_count; k++) {
        head->species[k].ionised = lm_is_ionised(c, k);
        head->species[k].stopping = lm_stopping_hash(&c->species[k].stopping);
    }
    for (int k = 0; k < c->species_count; k++)
        for (int l = 0; l < LM_LIMITS; l++)
            head->species[k].limits[l] = lm_channel_is_open(c, k, LM_SURFACES + l);
}

static const char *boundary_name(int kind)
{
    return kind >= LM_PERIODIC && kind <= LM_INFLOW ? lm_boundary_names[kind] : "unknown";
}

static int compare_sides(const char *path, const int *there, const int *here)
{
    for (int side = 0; side < LM_SIDES; side++)
        if (there[side] != here[side])
            return lm_fail(
                LM_BAD_INPUT, "%s: a checkpoint with %s particles at %s; the run has %s: set boundary.%s as there",
                path, boundary_name(there[side]), lm_side_names[side], boundary_name(here[side]), lm_side_names[side]);
    return LM_OK;
}

static int compare_bodies(const char *path, const struct lm_checkpoint_surfaces *there,
                          const struct lm_checkpoint_surfaces *here)
{
    if (there->body_count != here->body_count)
        return lm_fail(LM_BAD_INPUT, "%s: a checkpoint with %d bodies; the run has %d: give the same [body.NAME]", path,
                       there->body_count, here->body_count);
    for (int k = 0; k < here->body_count; k++)
        if (strcmp(there->body_names[k], here->body_names[k]) || there->body_particles[k] != here->body_particles[k])
            return lm_fail(LM_BAD_INPUT,
                           "%s: body %d is '%s' there (%s), '%s' (%s) in the run: give the same [body.NAME]", path,
                           k + 1, there->body_names[k], boundary_name(there->body_particles[k]), here->body_names[k],
                           boundary_name(here->body_particles[k]));
    if (there->body_cells != here->body_cells)
        return lm_fail(LM_BAD_INPUT, "%s: its bodies have other cells than the run's: give the same [body.NAME]", path);
    return LM_OK;
}

static void describe_maps(const struct lm_checkpoint_surfaces *s, size_t size, char *out)
{
    if (s->map_angles > 0)
        snprintf(out, size, "maps of %d angles and %d energies from %.17g to %.17g m_p v_A^2", s->map_angles,
                 s->map_energies, s->map_energy[0], s->map_energy[1]);
    else
        snprintf(out, size, "no maps");
}

/* After sides and bodies, which give the faces. */
static int compare_maps(const char *path, const struct lm_checkpoint_surfaces *there,
                        const struct lm_checkpoint_surfaces *here)
{
    char a[160], b[160];
    if (there->map_angles == here->map_angles && there->map_energies == here->map_energies &&
        there->map_energy[0] == here->map_energy[0] && there->map_energy[1] == here->map_energy[1] &&
        there->map_faces == here->map_faces)
        return LM_OK;
    describe_maps(there, sizeof a, a);
    describe_maps(here, sizeof b, b);
    return lm_fail(LM_BAD_INPUT,
                   "%s: a checkpoint with %s; the run has %s: set output.map_angles, map_energies, map_energy_min and "
                   "map_energy_max as there",
                   path, a, b);
}

static int compare_limits(const char *path, const struct lm_checkpoint_species *there,
                          const struct lm_checkpoint_species *here)
{
    static const char *const keys[LM_LIMITS] = {"lost_below_energy", "lost_below_pitch and lost_above_pitch",
                                                "scattering_rate"};
    for (int k = 0; k < LM_LIMITS; k++)
        if (there->limits[k] != here->limits[k])
            return lm_fail(LM_BAD_INPUT,
                           "%s: particles of species %s %s leave by %s there, and %s in the run: set %s as there", path,
                           there->name, there->limits[k] ? "can" : "cannot", lm_channel_names[LM_SURFACES + k],
                           here->limits[k] ? "can" : "cannot", keys[k]);
    if (there->ionised != here->ionised)
        return lm_fail(LM_BAD_INPUT,
                       "%s: particles of species %s are %sborn by ionisation there, and %sin the run: give the same "
                       "[ionisation.NAME]",
                       path, there->name, there->ionised ? "" : "not ", here->ionised ? "" : "not ");
    return LM_OK;
}

static const char *background_side(int side)
{
    static const char *const names[] = {"periodic", "a wall", "inflow", "open"};
    return side >= 0 && side < 4 ? names[side] : "unknown";
}

static const char *kind_name(int kind)
{
    return kind >= LM_TRACER && kind <= LM_ENTROPY ? lm_background_kinds[kind] : "unknown";
}

static int compare_backgrounds(const char *path, const struct lm_checkpoint *there, const struct lm_checkpoint *here)
{
    if (there->background_count != here->background_count)
        return lm_fail(LM_BAD_INPUT,
                       "%s: a checkpoint with %d background fields; the run has %d: give the same "
                       "[background.NAME]",
                       path, there->background_count, here->background_count);
    for (int k = 0; k < here->background_count; k++) {
        const struct lm_checkpoint_background *a = &there->background[k], *b = &here->background[k];
        if (strcmp(a->name, b->name) || a->kind != b->kind)
            return lm_fail(LM_BAD_INPUT,
                           "%s: background field %d is '%s' there, kind %s, and '%s', kind %s, in the run: give the "
                           "same [background.NAME]",
                           path, k + 1, a->name, kind_name(a->kind), b->name, kind_name(b->kind));
        for (int side = 0; side < LM_SIDES; side++)
            if (a->sides[side] != b->sides[side])
                return lm_fail(LM_BAD_INPUT,
                               "%s: the background field %s has %s at %s there, and %s in the run: set "
                               "background.%s.side_%s as there",
                               path, a->name, background_side(a->sides[side]), lm_side_names[side],
                               background_side(b->sides[side]), a->name, lm_side_names[side]);
    }
    return LM_OK;
}

int lm_sim_compare_electrons(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head)
{
    const struct lm_config *c = sim->config;
    const int there = head->electrons_gamma > 0, here = lm_entropy_field(c) >= 0;
    if (there != here)
        return lm_fail(LM_BAD_INPUT,
                       "%s: a checkpoint %s closure = evolved; the run has %s: set electrons.closure as there", path,
                       there ? "with" : "without", here ? "it" : "another");
    if (here && head->electrons_gamma != c->electrons.gamma)
        return lm_fail(LM_BAD_INPUT,
                       "%s: a checkpoint with gamma = %.17g; the run has %.17g: set electrons.gamma as there", path,
                       head->electrons_gamma, c->electrons.gamma);
    return LM_OK;
}

int lm_sim_compare(const struct lm_sim *sim, const char *path, const struct lm_checkpoint *head)
{
    struct lm_checkpoint here = {.step = 0};
    lm_sim_describe(sim, &here);
    int status = compare_sides(path, head->surfaces.sides, here.surfaces.sides);
    if (!status)
        status = compare_bodies(path, &head->surfaces, &here.surfaces);
    if (!status)
        status = compare_maps(path, &head->surfaces, &here.surfaces);
    if (!status)
        status = compare_backgrounds(path, head, &here);
    for (int s = 0; s < sim->config->species_count && !status; s++)
        status = compare_limits(path, &head->species[s], &here.species[s]);
    return status;
}
