/* The plasma beyond an inflow side (larmor/physics/particles/inflow.h). */
#ifndef LARMOR_PHYSICS_PARTICLES_INFLOW_CELL_H
#define LARMOR_PHYSICS_PARTICLES_INFLOW_CELL_H

/* The plasma beyond one cell of a side, along its inward normal and two tangents: y, z for sides in x; x, z for those
 * in y. For a given normal velocity, the tangential velocities have normal distributions, with means that depend on it.
 */
struct lm_inflow_cell {
    double rate;      /* particles expected in a step */
    double drift[3];  /* v_A */
    double thermal;   /* of the normal velocity */
    double slope[2];  /* of the tangential means over the normal velocity */
    double spread[3]; /* first tangent; second one: along with the first, and on its own */
};

#endif
