/* Sides of the domain, for background fields (larmor/physics/fluid/advect.h). */
#ifndef LARMOR_PHYSICS_FLUID_BACKGROUND_SIDES_H
#define LARMOR_PHYSICS_FLUID_BACKGROUND_SIDES_H

/* What a side of the domain does to a field. Nothing diffuses through a side that is not periodic. */
enum lm_background_side {
    LM_BACKGROUND_PERIODIC,
    LM_BACKGROUND_WALL,   /* nothing crosses */
    LM_BACKGROUND_INFLOW, /* where the velocity points inwards, a given value flows in; else as LM_BACKGROUND_OPEN */
    LM_BACKGROUND_OPEN    /* on the side the field has the value of the first cell inside */
};

#endif
