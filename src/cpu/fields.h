/* What the loops of the CPU backend over the fields share. */
#ifndef LARMOR_CPU_FIELDS_H
#define LARMOR_CPU_FIELDS_H

#include "cpu/cpu.h"
#include "larmor/physics/fields/electron_friction.h"
#include "larmor/physics/fields/external_current.h"
#include "larmor/physics/fields/fields.h"
#include "larmor/physics/fluid/face_value.h"
#include "larmor/physics/fluid/flow.h"

static inline struct lm_view lm_cpu_view(const struct lm_cpu *c, double *const a[3])
{
    return (struct lm_view){a[0], a[1], a[2], c->base.setup.grid.stride};
}

/* LM_EXTERNAL_J; s = 0 where there is none. */
static inline struct lm_view lm_cpu_external(const struct lm_cpu *c)
{
    struct lm_view v = {.s = 0};
    return c->base.setup.external_current ? lm_cpu_view(c, c->array + LM_EXTERNAL_J) : v;
}

static inline struct lm_vector lm_cpu_vector(double *const a[3], size_t k)
{
    return (struct lm_vector){a[0][k], a[1][k], a[2][k]};
}

static inline void lm_cpu_put_vector(double *const a[3], size_t k, struct lm_vector v)
{
    a[0][k] = v.x;
    a[1][k] = v.y;
    a[2][k] = v.z;
}

/* The nodes of E_`component` inside and on walls that it crosses; along a periodic axis also the first ones beyond. */
static inline struct lm_cells lm_cpu_nodes(const struct lm_cpu *c, int component)
{
    const struct lm_grid *g = &c->base.setup.grid;
    return (struct lm_cells){component == 0 ? -c->walls[0] : 0, g->nx + 1 - c->walls[0],
                             component == 1 ? -c->walls[1] : 0, g->ny + 1 - c->walls[1]};
}

/* The nodes at bodies, for lm_corner_rate and lm_void_open_part; NULL where no conductor cuts cells of row j. */
static inline const struct lm_body_node *lm_cpu_narrow_nodes(const struct lm_cpu *c, int j)
{
    const int inside = j >= 0 && j < c->base.setup.grid.ny;
    return c->node && (!inside || c->row_is_narrow[j]) ? c->node : NULL;
}

/* Copies an array of the grid, ghost cells included. */
void lm_cpu_copy_array(const struct lm_cpu *c, double *to, const double *from);

/* src/cpu/smoothing.c: the passes of the binomial filter. `along` is that of lm_fill_moment. Ghost cells of a moment
 * are valid before and after, those of a component that ions feel are filled. */
void lm_cpu_smooth_moment(struct lm_cpu *c, double *a, int along);
void lm_cpu_smooth_push(struct lm_cpu *c, double *a, int component, enum lm_fill fill);

/* src/cpu/closure.c */

/* LM_PER_DENSITY of the mean of two densities and of B as it stands, stable in a substep of this length; 0: of none. */
void lm_cpu_find_per_density(struct lm_cpu *c, const double *n, const double *other, double substep);

/* LM_PRESSURE_E of the pressure of the last closure and the density `n`, which counts as `least` where it is less: as
 * the ions feel it, or `for_b`, of an evolved pressure. It is 0 on walls, and has ghost cells beyond periodic sides.
 * c->spare is overwritten. */
void lm_cpu_pressure_field(struct lm_cpu *c, const double *n, double least, int for_b);

/* The rate of B_z that follows from the pressure of the last closure: one array, valid until the next lm_cpu_ohm, or
 * NULL where p is not evolved. LM_PRESSURE_E is overwritten. */
const double *lm_cpu_battery(struct lm_cpu *c);

/* The ion current at n + 1, of LM_J_NEW and LM_J_OLD. */
void lm_cpu_extrapolate_current(struct lm_cpu *c, double *const to[3]);

/* src/cpu/void_field.c: E_v of voids (larmor/physics/fields/void_field.h). */

/* At the beginning of a step of B or a round of one: LM_VOID, unless the step keeps it, and c->has_void of the last
 * closure, and no E_v elsewhere. */
void lm_cpu_begin_void_field(struct lm_cpu *c, const struct lm_b_step *step);

/* In a stage of Runge-Kutta, with c->curl of that stage and all of Ohm's E in c->e: adds E_v to c->e and advances it.
 */
void lm_cpu_advance_void_field(struct lm_cpu *c, int number, double substep);

/* src/cpu/ohm.c */

/* Copies E beyond the sides where it is prescribed, from LM_E. */
void lm_cpu_prescribe_e(struct lm_cpu *c, double *const e[3]);

/* c->curl = J, and c->motional and c->slip of struct lm_motional, wherever lm_cpu_electric_field reads them; LM_ETA
 * where it depends on the plasma; and with friction, LM_FRICTION_FORCE, which c->motional has, too. `at`: when the
 * moments of the species count. */
void lm_cpu_motional_field(struct lm_cpu *c, double *const b[3], double *const ion_current[3],
                           struct lm_level_weights at);

/* E with the field `b` of lm_cpu_motional_field, on [0, n] in both directions; at walls on [0, n - 1] along them and on
 * [-1, n - 1] through them. `resistive` takes its resistive part, and `e` has the part of LM_PRESSURE_E. If it is NULL,
 * `e` is without that part. */
void lm_cpu_electric_field(struct lm_cpu *c, double *const b[3], double *const e[3], double *const resistive[3]);

/* Both in a substep of B: E of the field `b` without the part of LM_PRESSURE_E, with all moments half way in a step. */
void lm_cpu_substep_field(struct lm_cpu *c, double *const b[3], double *const ion_current[3], double *const e[3]);

/* Ghost cells of E. */
void lm_cpu_fill_e(struct lm_cpu *c, double *const e[3], enum lm_fill fill);

/* src/cpu/friction.c, with c->curl as it stands and the electrons of the last closure: */

/* Adds to LM_ETA and c->motional, and stores LM_FRICTION_FORCE. */
void lm_cpu_add_friction(struct lm_cpu *c, struct lm_view b, struct lm_level_weights at);

/* LM_FRICTION_E of all species, and what all ions feel of the friction is added to LM_PUSH_E, which is not smoothed yet
 * and has no ghost cells. */
void lm_cpu_friction_fields(struct lm_cpu *c, struct lm_level_weights at);

/* Adds the heat of the friction in each cell. */
void lm_cpu_add_friction_heat(struct lm_cpu *c, struct lm_level_weights at, double *heat);

/* The maxima of LM_FRICTION_E for lm_control. */
void lm_cpu_survey_friction(struct lm_cpu *c);

/* src/cpu/face_values.c: values of background fields on rows of faces. */

enum { LM_CPU_ACROSS = 2 * LM_WENO_MOST };

/* A row of faces: c[m][f], m < 2 lm_scheme_reach, are the cells across face f, u[f] is the velocity on it. */
struct lm_cpu_faces {
    int count;
    const double *c[LM_CPU_ACROSS], *u;
};

/* The nx + 1 faces along x of row j of a field. `velocity` is an array of the grid, as q is. `line` has
 * lm_cpu_line_size numbers, which the result uses. */
struct lm_cpu_faces lm_cpu_faces_x(const struct lm_cpu *c, int reach, int j, const double *q, const double *velocity,
                                   double *line);

/* The nx faces between rows j and j + 1. */
struct lm_cpu_faces lm_cpu_faces_y(const struct lm_cpu *c, int reach, int j, const double *q, const double *velocity);

static inline size_t lm_cpu_line_size(const struct lm_grid *g)
{
    return (size_t)g->nx + 2 * LM_WENO_MOST;
}

/* The values on a row of faces, as if all cells were free. `bounds` may be NULL. */
void lm_cpu_face_values(const struct lm_background *f, const struct lm_bounds *bounds, const struct lm_cpu_faces *faces,
                        double *value);

/* Two cells with a face between them: their clearances along the axis of the face, whether a body cuts the cell upwind,
 * and what is open of the face. */
struct lm_cpu_special_face {
    int before, behind, is_cut;
    double length;
};

/* The upper face along an axis of the cell that is element k of grid arrays, for the velocity u on it. */
struct lm_cpu_special_face lm_cpu_special_face(const struct lm_cpu *c, int axis, long k, double u);

/* The value on face f of a row between cells of plasma. Cells outside the window that the clearances allow are not
 * read. */
double lm_cpu_value_near_body(const struct lm_background *field, const struct lm_bounds *bounds,
                              const struct lm_cpu_faces *faces, int f, const struct lm_cpu_special_face *at);

/* The cell of a row or column of n whose value is read for cell k: along a periodic axis its image, else the nearest
 * cell. The value of a nearest cell is read and not used. */
int lm_cpu_inside(int k, int n, int periodic);

/* Whether a face of row j may be special; beyond the sides that of the periodic image. */
static inline int lm_cpu_is_near_body(const struct lm_cpu *c, int j)
{
    return c->row_near_body[lm_cpu_inside(j, c->base.setup.grid.ny, 1)];
}

/* src/cpu/flow.c: c->counted of the mean of two densities, of B and of the entropy as they stand. */
void lm_cpu_count_density(struct lm_cpu *c, const double *n, const double *other);

/* The moments as they stand. */
struct lm_flow_moments lm_cpu_flow_moments(const struct lm_cpu *c);

/* src/cpu/mixing.c */

enum { LM_MIXING_LINES = 2 };

/* A pass of the heat of mixing. */
struct lm_mixing_pass {
    double dt, half;            /* of the pass; half a step */
    int quantum;                /* of the entropy, 2^-quantum */
    double *work[2], *share[2]; /* arrays of the grid, on the faces: lm_work_velocity, and work */
    double *lines;              /* work: LM_MIXING_LINES lm_cpu_line_size numbers for each thread */
};

/* Overwrites c->e. */
void lm_cpu_work_velocities(struct lm_cpu *c, const struct lm_flow_moments *moments, double *const work[2]);

/* Gives the heat of mixing of a time dt to the electrons, and adds to the source of the entropy. Overwrites c->e. */
void lm_cpu_mix(struct lm_cpu *c, const struct lm_mixing_pass *pass);

/* src/cpu/reductions.c: lm_control's maxima with the density and the ion current of LM_N_OLD or LM_N_NEW. */
void lm_cpu_survey_level(struct lm_cpu *c, int level);

#endif
