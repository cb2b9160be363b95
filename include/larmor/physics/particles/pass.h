/* The pass of one particle that the window of its tile serves: Boris push, current half way, move, density at the end.
 *
 * The velocity stands at n-1/2 and the position at n (leapfrog). The push gives the velocity at n+1/2; the current is
 * deposited with it half way between the positions at n and n+1, the density at n+1. The GPU runs
 * lm_pass_near. The CPU gathers the fields first and then calls lm_push_in and lm_pass_on. A backend decides how it
 * goes through the particles and how it adds quanta to the nodes.
 */
#ifndef LARMOR_PHYSICS_PARTICLES_PASS_H
#define LARMOR_PHYSICS_PARTICLES_PASS_H

#include "larmor/physics/particles/deposit.h"
#include "larmor/physics/particles/tile.h"

/* Where the current and the density of a particle are deposited: relative to its tile, 24 fraction bits. */
struct lm_deposit_places {
    int32_t half_x, half_y, end_x, end_y;
};

/* Moves a pushed particle by (dx, dy), if the step moves particles at all. */
LM_HD struct lm_deposit_places lm_pass_move(struct lm_particle *p, lm_fix dx, lm_fix dy, int move)
{
    struct lm_deposit_places at;
    at.half_x = lm_fix24(p->x + (dx >> 1));
    at.half_y = lm_fix24(p->y + (dy >> 1));
    if (move) {
        p->x += dx;
        p->y += dy;
    }
    at.end_x = lm_fix24(p->x);
    at.end_y = lm_fix24(p->y);
    return at;
}

/* What decides whether the window serves a particle of a tile during the whole step. */
struct lm_near {
    const struct lm_tiling *tiling;
    const struct lm_surfaces *surfaces; /* not read where `is_free` says that there are none */
    int size, tile;                     /* cells of a tile along each axis; number of the tile */
    const struct lm_free_ways *ways;    /* NULL, or what says the same as the surfaces in vector instructions */
};

/* Moves a particle that has been pushed in the window, by (dx, dy). Returns 1 if the window also holds the end of its
 * way and the way is free of surfaces. The window is convex, so it then holds the whole way. If the result is 0, the
 * particle as it was before its push must take the direct path (larmor/physics/particles/stray.h). There are no
 * branches, so that the loop of the CPU remains a vector loop. */
LM_HD int lm_pass_on(int order, int is_free, struct lm_particle *p, lm_fix dx, lm_fix dy, const struct lm_step *step,
                     const struct lm_near *near, struct lm_deposit_places *at)
{
    int stays = lm_in_window(order, p->x + dx, p->y + dy, near->size);
    if (!is_free)
        stays &= near->ways ? lm_is_free_way(near->ways, p->x, p->y, dx, dy)
                            : lm_is_free(near->surfaces, near->tiling, near->tile, p->x, p->y, dx, dy);
    *at = lm_pass_move(p, dx, dy, step->move);
    return stays;
}

/* Pushes and moves a particle that stands in the window. collided_in: NULL, or the fields at a particle whose
 * collisions have been done, and with them the first part of its push in these fields. The result is that of
 * lm_pass_on. */
LM_HD int lm_pass_near(int order, int is_free, const struct lm_local_fields *collided_in, struct lm_particle *p,
                       const struct lm_window *window, const struct lm_step *step, const struct lm_near *near,
                       struct lm_deposit_places *at)
{
    lm_fix dx, dy;
    if (collided_in)
        lm_push_rest(p, collided_in, step, &dx, &dy);
    else
        lm_push(order, p, window, step, &dx, &dy);
    return lm_pass_on(order, is_free, p, dx, dy, step, near, at);
}

/* Deposits current and density. ADD(moment, i, j, quanta) is how a backend adds to node (i, j) of the window. */
#define LM_DEPOSIT_PASS(order, at, vx, vy, vz, scale, ADD)                                                             \
    do {                                                                                                               \
        LM_DEPOSIT_CURRENT(order, (at).half_x, (at).half_y, vx, vy, vz, scale, ADD);                                   \
        LM_DEPOSIT_DENSITY(order, (at).end_x, (at).end_y, ADD);                                                        \
    } while (0)

#endif
