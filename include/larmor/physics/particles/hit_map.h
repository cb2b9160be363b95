/* Maps of the particles that hit sides and bodies, by face, angle and energy. */
#ifndef LARMOR_PHYSICS_PARTICLES_HIT_MAP_H
#define LARMOR_PHYSICS_PARTICLES_HIT_MAP_H

#include "larmor/ledger.h"
#include "larmor/physics/numerics/portable.h"

/* A hit: the surface, its face and the velocity there. Faces of a side are its cells; those of bodies are numbered
 * 4 cell + direction, with cell = j cells_x + i of the body and direction the side of that cell (enum lm_side). The
 * line in a cut cell is one face, with the direction of lm_cut_direction. */
struct lm_hit {
    int surface;
    uint32_t face;
    double normal2, speed2; /* squares of the velocity normal to the surface, and of the whole velocity */
};

/* Bins of all maps, and the list of faces: first those of the sides that are not periodic, then those of bodies. */
struct lm_map_bins {
    int angles, energies;            /* angles = 0: no maps */
    const double *cos2;              /* [angles]: squares of the cosines above which a bin ends, falling; last: 0 */
    const double *energy;            /* [energies + 1]: energies between the bins, rising */
    uint32_t first[LM_SURFACES + 1]; /* of each surface's faces in the list of all */
    const uint32_t *faces;           /* [first[LM_SURFACES]]: rising within a body */
};

/* One bin lies below the lowest energy and one above the highest. */
LM_HD uint32_t lm_map_energies(const struct lm_map_bins *b)
{
    return (uint32_t)b->energies + 2;
}

/* Counters in the maps of a species: [face][angle][energy]. */
LM_HD uint64_t lm_map_size(const struct lm_map_bins *b)
{
    return b->angles > 0 ? (uint64_t)b->first[LM_SURFACES] * (uint32_t)b->angles * lm_map_energies(b) : 0;
}

/* The counter of a hit by an ion of a mass. */
LM_HD uint64_t lm_map_bin(const struct lm_map_bins *b, const struct lm_hit *hit, double mass)
{
    uint32_t low = b->first[hit->surface], high = b->first[hit->surface + 1];
    if (hit->surface < LM_SIDES) {
        low += hit->face;
    } else {
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            if (b->faces[middle] <= hit->face)
                low = middle;
            else
                high = middle;
        }
    }
    int angle = 0, energy = 0;
    while (angle < b->angles - 1 && hit->normal2 < b->cos2[angle] * hit->speed2)
        angle++;
    while (energy <= b->energies && 0.5 * mass * hit->speed2 >= b->energy[energy])
        energy++;
    return ((uint64_t)low * (uint32_t)b->angles + (uint32_t)angle) * lm_map_energies(b) + (uint32_t)energy;
}

#endif
