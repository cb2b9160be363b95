/* The plan, which is decided before any key is drawn: sizes, sides, the step and the amount of work, so that a case is
 * quick and mostly valid. */
#include <math.h>
#include <stdio.h>

#include "config/reader.h"
#include "draw.h"

static void plan_size(struct draw *d)
{
    struct draw_plan *p = &d->plan;
    switch (draw_whole(d, 0, 11)) {
    case 0:
        p->nx = 1, p->ny = draw_whole(d, 1, 70);
        break;
    case 1:
        p->nx = draw_whole(d, 1, 140), p->ny = 1;
        break;
    case 2:
    case 3:
        p->nx = draw_whole(d, 2, 9), p->ny = draw_whole(d, 2, 9);
        break;
    case 4:
        p->nx = 8 * draw_whole(d, 1, 5), p->ny = 8 * draw_whole(d, 1, 3);
        break;
    case 5:
        p->nx = draw_whole(d, 60, 140), p->ny = draw_whole(d, 10, 40);
        break;
    case 6: /* long enough for wide halos on several ranks */
        p->nx = draw_whole(d, 150, 400), p->ny = draw_whole(d, 3, 12);
        break;
    case 7:
        p->nx = draw_whole(d, 3, 12), p->ny = draw_whole(d, 150, 400);
        break;
    default:
        p->nx = draw_whole(d, 6, 45), p->ny = draw_whole(d, 4, 30);
    }
    p->dx = 0.01 * draw_whole(d, 10, 50);
    p->dy = draw_chance(d, 0.5) ? p->dx : 0.01 * draw_whole(d, 10, 50);
}

/* Walls stand on both sides of an axis, or on none. */
static void plan_sides(struct draw *d)
{
    for (int axis = 0; axis < 2; axis++)
        if (!draw_chance(d, 0.4))
            for (int side = 2 * axis; side < 2 * axis + 2; side++)
                d->plan.sides[side] = draw_whole(d, LM_REFLECTING, LM_INFLOW);
}

/* A step for which the fields need only few substeps at the lowest density. */
static void plan_step(struct draw *d)
{
    static const double floors[] = {0.02, 0.05, 0.1, 0.2, 0.3};
    struct draw_plan *p = &d->plan;
    const double k2 = 4 / (p->dx * p->dx) + 4 / (p->dy * p->dy);
    p->floor = floors[draw_whole(d, 0, 4)];
    const double dt = fmin(draw_between(d, 1, 12) * p->floor / k2, draw_between(d, 0.005, 0.05));
    p->dt = p->given_fields ? draw_between(d, 0.01, 0.1) : fmax(dt, 5e-4);
    char text[32];
    snprintf(text, sizeof text, "%.3g", p->dt);
    sscanf(text, "%lf", &p->dt);
}

/* The number of particle-steps is small, so that a case takes some hundredths of a second. */
static void plan_work(struct draw *d)
{
    struct draw_plan *p = &d->plan;
    const int cells = p->nx * p->ny, large = cells > 1500;
    p->steps = draw_whole(d, 3, large ? 10 : 24);
    const double most = 5000.0 / cells / p->items[LM_SPECIES];
    p->particles = fmax(1, fmin(floor(most), draw_whole(d, 1, 30)));
}

void draw_plan(struct draw *d)
{
    struct draw_plan *p = &d->plan;
    plan_size(d);
    plan_sides(d);
    p->given_fields = draw_chance(d, 0.12);
    p->has_units = draw_chance(d, 0.2);
    p->has_constant = draw_chance(d, 0.3);
    for (int kind = 0; kind < LM_NAMED_KINDS; kind++)
        p->items[kind] = draw_chance(d, 0.55) ? 0 : draw_whole(d, 1, 3);
    p->items[LM_SPECIES] = draw_chance(d, 0.5) ? 1 : draw_whole(d, 2, 3);
    p->items[LM_DATA] = 0;    /* there are no files */
    p->items[LM_SPECTRA] = 0; /* tests/test_spectrum.c */
    if (p->nx * p->ny < 6)
        p->items[LM_BODIES] = 0;
    plan_step(d);
    plan_work(d);
}

static int has_gas(const struct draw *d)
{
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        if (d->shadow->background[f].kind == LM_NEUTRAL_GAS)
            return 1;
    return 0;
}

int draw_allows(const struct draw *d, int variant)
{
    return variant != LM_BY_GAS || has_gas(d);
}

/* By default the sides of background fields follow those of the particles. */
void draw_resolve(struct draw *d)
{
    for (int f = 0; f < d->plan.items[LM_BACKGROUNDS]; f++)
        for (int side = 0; side < LM_SIDES; side++) {
            int *own = &d->shadow->background[f].sides[side];
            if (*own == LM_BACKGROUND_PERIODIC)
                *own = lm_background_side_of(d->plan.sides[side]);
        }
}
