/* Solid bodies in the plasma.
 *
 * A cell belongs to a body if its centre lies in the shape of the body. Where bodies overlap, the cell belongs to the
 * last one in the configuration. Ohm's law in the plasma never reads a value inside a cell of a body.
 *
 * The fields know more of the shape: struct lm_body_node says how much of what surrounds a node of E lies in bodies.
 * So do the particles: struct lm_obstacles has a straight line in each cell that the surface of a body cuts.
 */
#ifndef LARMOR_BODY_H
#define LARMOR_BODY_H

#include "larmor/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LM_MAX_BODIES = 8 };

enum lm_body_shape { LM_DISK, LM_BOX, LM_POLYGON, LM_MASK };

/* The electric field inside a body. */
enum lm_body_fields {
    LM_BODY_CONDUCTING,  /* E = 0 */
    LM_BODY_RESISTIVE,   /* E = eta J, where eta is a profile */
    LM_BODY_TRANSPARENT, /* E = eta J with eta = 20/(k^2 dt), k the largest of the grid: B passes within a step */
    LM_BODY_INSULATING   /* no current: B is that of a vacuum (larmor/physics/fields/void.h) */
};

/* What Ohm's law is in a node of E. */
enum lm_node_kind {
    LM_NODE_PLASMA,    /* that of the plasma: no body is near */
    LM_NODE_CUT,       /* a mean of plasma and body, or all of it in a body */
    LM_NODE_CONDUCTS,  /* no resistivity: E = 0 between cells of bodies, but for E_z beside the surface */
    LM_NODE_INSULATES, /* E = 0, and J becomes 0 after each step */
    LM_NODE_NARROW     /* that of the plasma, of which an insulator leaves a part to the current */
};

/* A node of E at a body.
 *
 * Four strips along y lie side by side in the middle half of the cell around the node of E_x, and are as long as it;
 * `part` is how much of each strip lies in bodies that have a resistivity. The same holds for E_y with x and y
 * exchanged. All parts of E_z are that of the whole cell. `plasma` and `body` say where the values come from that the
 * two cells of the node do not have: lm_node_source (larmor/physics/fields/solid.h). In a node of LM_NODE_NARROW the
 * parts are those in insulators.
 *
 * E_z is 0 in a conductor, and near its surface it grows with the distance from it. In the nodes next to the surface,
 * just inside or outside, E_z follows from those of the neighbours farther out (larmor/physics/fields/solid.h): the
 * parts of E_z in a node of LM_NODE_CONDUCTS are weights of the neighbours at lower x, higher x, lower y and higher y
 * (lm_node_weight).
 *
 * B_z on a corner is that of the part of the cell around it that no conductor has, and E_x and E_y act on the parts of
 * its edges that are open: the conformal method of Dey and Mittra (1997, IEEE Microw. Guid. Wave Lett. 7, 273). Corners
 * with less than a half of their cell stay as they are. Their neighbours have their parts, as in the method of enlarged
 * cells (Xiao and Liu 2008, IEEE Trans. Antennas Propag. 56, 3324), so that no substep is too long. `more` is by how
 * much a node of E_x or E_y has more of its edge than all of it, in units of 1/LM_NODE_OPEN. That of a node of E_z
 * belongs to the corner of its cell, with the cell around the corner. */
enum { LM_NODE_PARTS = 4, LM_NODE_WHOLE = 128, LM_NODE_NO_FIELD = 255, LM_NODE_OWN = 0, LM_NODE_OPEN = 64 };

struct lm_body_node {
    uint8_t kind;                /* enum lm_node_kind */
    uint8_t plasma, body;        /* LM_NODE_OWN: from the two cells of the node */
    uint8_t part[LM_NODE_PARTS]; /* of LM_NODE_WHOLE; LM_NODE_NO_FIELD: E is 0 there */
    int8_t more;                 /* lm_open_part */
};

/* What particles meet in a cell: nothing (0), body k that fills it (k + 1), or the surface of body k (LM_CUT + k + 1).
 *
 * In a cut cell the surface is a straight line between two places on the edge of the cell. Whether a place of a
 * particle is in the body is a matter of integers (larmor/physics/particles/cut.h). The line is that of the shape where
 * it enters and leaves the cell, to 2^-20 cells, and to 2^-12 near corners of cells. So the distance between line and
 * surface is of second order in the size of a cell. The places on an edge follow from the edge, so two cells have one
 * place on the edge that they share, and the surface has no holes. Even where neighbouring cells do not fit, particles
 * do not leak: a particle enters a cell only at a place outside of the body, and its way in the cell is free if both of
 * its ends are, because the plasma's part of a cell is convex.
 *
 * A cell is free or full as its centre says, and not cut, where a line cannot stand for the surfaces in it: where more
 * than an eighth of it would be on the wrong side, where the edge meets more than one line, where more than an eighth
 * is in a second body, and in bodies from mask files. */
enum { LM_CUT = 128, LM_CUT_BITS = 20, LM_CUT_ONE = 1 << LM_CUT_BITS };

/* The ends of the line; the plasma is on the left of the way from the first to the second. A place is the number of the
 * edge (0 low y, 1 high x, 2 high y, 3 low x) << 24, plus x or y along the edge in units of 2^-LM_CUT_BITS cells. */
struct lm_body_cut {
    uint32_t from, to;
};

/* What bodies are to particles and moments. Arrays [ny][nx].
 *
 * A particle deposits what its shape covers. Around a cell near a body a part of the shape is in the body, where no
 * particle is. The moments of the cell are divided by the part in the plasma, so the density of a uniform plasma is
 * right beside every surface. Beyond sides that are not periodic the plasma and the bodies go on mirrored, as deposits
 * do. */
struct lm_obstacles {
    const uint8_t *of;
    const struct lm_body_cut *cut; /* read in cut cells only */
    const float *factor;           /* of the moments; 0 in cells of bodies */
};

/* The bodies of a run. */
struct lm_bodies {
    int count;
    const uint8_t *mask;             /* [ny][nx]: 0 is plasma, k + 1 is body k; NULL: there are no bodies */
    const struct lm_body_node *node; /* lm_body_nodes; NULL: those of bodies that fill their cells */
    struct lm_obstacles obstacles;   /* lm_body_obstacles; NULL: bodies fill their cells, and factors are 0 or 1 */
    int particles[LM_MAX_BODIES];    /* enum lm_boundary: LM_ABSORBING, LM_REFLECTING or LM_THERMAL */
    int fields[LM_MAX_BODIES];       /* enum lm_body_fields */
};

static inline int lm_any_body_is(const struct lm_bodies *b, enum lm_body_fields fields)
{
    int any = 0;
    for (int k = 0; k < b->count; k++)
        any |= b->fields[k] == (int)fields;
    return any;
}

static inline int lm_any_insulator(const struct lm_bodies *b)
{
    return lm_any_body_is(b, LM_BODY_INSULATING);
}

struct lm_config;

/* Finds the cells of all bodies and fills mask[ny][nx], which the caller owns. LM_BAD_INPUT: a mask file cannot be read
 * or has another size, a body has no cell, or no plasma is left. */
int lm_body_mask(const struct lm_config *config, uint8_t *mask);

/* How many elements of struct lm_body_node there are for a grid: three components in each cell, from the cells before
 * the first ones on. Element lm_body_node_index begins those of cell (i, j). */
static inline size_t lm_body_node_count(const struct lm_grid *g)
{
    return 3 * ((size_t)g->nx + 1) * ((size_t)g->ny + 1);
}

static inline size_t lm_body_node_index(const struct lm_grid *g, int i, int j)
{
    return 3 * ((size_t)(j + 1) * ((size_t)g->nx + 1) + (size_t)(i + 1));
}

/* The nodes of all bodies, from their shapes; `mask` is that of lm_body_mask. The caller owns node[]. LM_BAD_INPUT as
 * above. */
int lm_body_nodes(const struct lm_config *config, const uint8_t *mask, struct lm_body_node *node);

/* The obstacles of all bodies in the same way. The caller owns the three arrays [ny][nx]. */
int lm_body_obstacles(const struct lm_config *config, const uint8_t *mask, uint8_t *of, struct lm_body_cut *cut,
                      float *factor);

/* What particles meet in the cells, whichever way the bodies are given; NULL: there are no bodies. */
static inline const uint8_t *lm_obstacles_of(const struct lm_bodies *b)
{
    return b->obstacles.of ? b->obstacles.of : b->mask;
}

#ifdef __cplusplus
}
#endif
#endif
