/* Sides of the domain, for background fields (larmor/physics/fluid/advect.h). */
#ifndef LARMOR_PHYSICS_FLUID_BACKGROUND_SIDES_H
#define LARMOR_PHYSICS_FLUID_BACKGROUND_SIDES_H

/* What a side of the domain that is not periodic does to a field. Nothing diffuses through it. */
enum lm_background_side {
    LM_BACKGROUND_PERIODIC,
    LM_BACKGROUND_WALL,   /* nothing crosses */
    LM_BACKGROUND_INFLOW, /* a given value flows in where the velocity points in; out as through an open side */
    LM_BACKGROUND_OPEN    /* outwards and inwards the field has the value of the first cell */
};

#endif
