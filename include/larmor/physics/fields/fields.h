/* Fields on the staggered grid (where each quantity lives: larmor/grid.h). The electrons have no mass, and the plasma
 * is quasi-neutral (Winske and Quest 1986; Kunz, Stone and Bai 2014):
 *
 *     J = curl B,  E = (J - J_i) x B / n - grad p_e / n + eta J - eta_H lap J,  dB/dt = -curl E
 *
 * n = sum Z n_s is the electron density and J_i = sum Z n_s u_s the ion current.
 *
 *     moments.h            density and ion current from what the particles have deposited; ghost cells of moments
 *     smoothing.h          the binomial filter
 *     closure.h            density floor, electron pressure and energy
 *     pressure_gradient.h  the part of E from the electron pressure
 *     ohm.h                J = curl B and Ohm's law, inside and on walls; solid.h: at bodies
 *     electron_friction.h  friction between electrons and single species
 *     void.h               thin plasma and voids: the density in Ohm's law
 *     void_field.h         E in voids
 *     relaxation.h         B where it diffuses fast: in insulating bodies, and with a large resistivity
 *     faraday.h            Faraday's law, div B, the Runge-Kutta method
 *     field_boundaries.h   E and B beyond the sides of the domain; open_side.h: at open ones; side_current.h: J
 *     time_step_limits.h   the largest frequency of a cell (whistler, convection, diffusion), and the largest E
 *     grid_sums.h          energy in a cell, and sums over the grid that do not depend on their order
 *
 * Every function there is the body of a loop over cells. The CPU backend, the CUDA kernels and the tests call it; they
 * add the iteration. Pointers stand on the cell, and s is the array's stride to the cell above.
 */
#ifndef LARMOR_PHYSICS_FIELDS_FIELDS_H
#define LARMOR_PHYSICS_FIELDS_FIELDS_H

#include "larmor/physics/fields/closure.h"
#include "larmor/physics/fields/faraday.h"
#include "larmor/physics/fields/moments.h"
#include "larmor/physics/fields/ohm.h"
#include "larmor/physics/fields/pressure_gradient.h"
#include "larmor/physics/fields/smoothing.h"
#include "larmor/physics/fields/time_step_limits.h"
#include "larmor/physics/fields/relaxation.h"
#include "larmor/physics/fields/void.h"
#include "larmor/physics/fields/void_field.h"

#endif
