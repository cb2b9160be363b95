/* Velocities of ions and electrons on the faces of the cells, for what they carry: u_i = J_i / n and u_e = u_i - J / n,
 * half way in a step, with the density that Ohm's law has there: what the electrons' pressure does to the ions is then
 * what its flow loses, also at the density floor.
 */
#ifndef LARMOR_PHYSICS_FLOW_H
#define LARMOR_PHYSICS_FLOW_H

#include "larmor/physics/advect.h"
#include "larmor/physics/fields.h"

/* Arrays, all of one stride. */
struct lm_flow_given {
    const double *density[2]; /* n at the beginning and at the end of the step */
    const double *current[2]; /* J_i,x and J_i,y at the centres, half way */
    struct lm_view b;         /* B, now */
    const uint8_t *room;
};

struct lm_flows {
    double ion, electron;
};

/* Whether a face lies on a side of the domain, which side of it being beyond. */
enum lm_face_place { LM_FACE_INSIDE, LM_FACE_LOW, LM_FACE_HIGH };

LM_HD enum lm_face_place lm_face_place(int cell, int n, int periodic)
{
    return periodic || (cell >= 0 && cell < n - 1) ? LM_FACE_INSIDE : cell < 0 ? LM_FACE_LOW : LM_FACE_HIGH;
}

/* On the upper face of the cell at k along an axis; nothing flows into a solid, and on a side of the domain the cell
 * inside stands for both. B comes at the beginning and at the end (`later`) of the step: of the electrons, the ions'
 * part with the first one, and the current of each by half. */
LM_HD struct lm_flows lm_flow_on_face(const struct lm_flow_given *g, int axis, long k, enum lm_face_place place,
                                      int later, const struct lm_ohm *o)
{
    struct lm_flows u = {0.0, 0.0};
    const long next = k + (axis == 0 ? 1 : g->b.s), a = place == LM_FACE_LOW ? next : k,
               b = place == LM_FACE_HIGH ? k : next;
    const double *const *n = g->density, *ji = g->current[axis];
    if (!g->room[a] || !g->room[b])
        return u;
    const double density = 0.5 * (lm_floored(lm_mean(n[0][a], n[1][a]), o) + lm_floored(lm_mean(n[0][b], n[1][b]), o));
    const struct lm_vector j = lm_curl_b(lm_view_at(g->b, k), o->rx, o->ry);
    u.ion = later ? 0.0 : 0.5 * (ji[a] + ji[b]) / density;
    u.electron = u.ion - 0.5 * (axis == 0 ? j.x : j.y) / density;
    if (o->evolved && o->zero_vacuum && density <= o->floor) /* no E: no work */
        u.electron = 0.0;
    return u;
}

#endif
