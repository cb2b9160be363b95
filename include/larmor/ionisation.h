/* Sources of ions within the domain; the equations are in larmor/physics/particles/ionise.h. */
#ifndef LARMOR_IONISATION_H
#define LARMOR_IONISATION_H

enum { LM_MAX_IONISATIONS = 8 };

struct lm_ionisation {
    int species; /* the species that gains the ions */
    int gas;     /* the background field that loses what the ions gain; -1: none */
};

#endif
