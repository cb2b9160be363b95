/* Velocities of ions and electrons on the faces of the cells, for what they carry: u_i = J_i / n and u_e = u_i - J / n,
 * half way in a step, with the density that Ohm's law has there. The entropy of electrons
 * (larmor/physics/fluid/electrons.h) follows the ions below the density floor too: it would be left behind in the voids
 * otherwise, where its pressure would hold the plasma back.
 */
#ifndef LARMOR_PHYSICS_FLUID_FLOW_H
#define LARMOR_PHYSICS_FLUID_FLOW_H

#include "larmor/physics/fluid/advect.h"
#include "larmor/physics/fields/fields.h"

/* Arrays, all of one stride. */
struct lm_flow_given {
    const double *density[2]; /* n at the beginning and at the end of the step */
    const double *current[2]; /* J_i,x and J_i,y at the centres, half way */
    struct lm_view b;         /* B, now */
    const uint8_t *room;
};

/* The least density in the ions' part of the entropy's velocity, as a share of the floor: a particle may have passed
 * within the step without being there at its ends. */
#define LM_FOLLOWED 0.1

struct lm_flows {
    double ion, electron, entropy;
};

/* Whether a face lies on a side of the domain, which side of it being beyond. */
enum lm_face_place { LM_FACE_INSIDE, LM_FACE_LOW, LM_FACE_HIGH };

LM_HD enum lm_face_place lm_face_place(int cell, int n, int periodic)
{
    return periodic || (cell >= 0 && cell < n - 1) ? LM_FACE_INSIDE : cell < 0 ? LM_FACE_LOW : LM_FACE_HIGH;
}

/* On the upper face of the cell at k along an axis; nothing flows into a solid, and on a side of the domain the cell
 * inside stands for both. B comes at the beginning and at the end (`later`) of the step: of the electrons, the ions'
 * part with the first one, and the current of each by half. The entropy's velocity is that of B as it stands. */
LM_HD struct lm_flows lm_flow_on_face(const struct lm_flow_given *g, int axis, long k, enum lm_face_place place,
                                      int later, const struct lm_ohm *o)
{
    struct lm_flows u = {0.0, 0.0, 0.0};
    const long next = k + (axis == 0 ? 1 : g->b.s), a = place == LM_FACE_LOW ? next : k,
               b = place == LM_FACE_HIGH ? k : next;
    const double *const *n = g->density, *ji = g->current[axis];
    if (!g->room[a] || !g->room[b])
        return u;
    const double na = lm_mean(n[0][a], n[1][a]), nb = lm_mean(n[0][b], n[1][b]), there = 0.5 * (na + nb);
    const double density = 0.5 * (lm_floored(na, o) + lm_floored(nb, o));
    const struct lm_vector j = lm_curl_b(lm_view_at(g->b, k), o->inv_dx, o->inv_dy);
    const double ji_here = 0.5 * (ji[a] + ji[b]), current = axis == 0 ? j.x : j.y;
    u.ion = later ? 0.0 : ji_here / density;
    u.electron = u.ion - 0.5 * current / density;
    if (o->evolved)
        u.entropy = ji_here / lm_max(there, LM_FOLLOWED * o->floor) - current / density;
    return u;
}

#endif
