/* CPU backend: background fields. A stage of the Runge-Kutta method goes over rows; each face's flux is formed once, a
 * row of faces at a time, as in free fluid; faces beside solids and on sides are then put right one by one. The bodies
 * are in larmor/physics/advect.h. */
#include <math.h>

#include "cpu.h"
#include "larmor/physics/fields.h"

/* A row of faces and what lies across them: c[m][f] of face f, m as in lm_face_value. */
struct face_row {
    int count;
    const double *c[2 * LM_WENO_MOST], *u;
    double factor, diffusion;
};

/* What a thread works with. */
struct bench_rows {
    double *line;              /* the cells of a row, with LM_WENO_MOST more on each side */
    double *x, *below, *above; /* units through the faces of a row of cells: [nx + 1], [nx], [nx] */
    double *west, *east;       /* limited values on the faces of the cells of a row, [nx + 2] from cell -1 on */
    double *south[2], *north[2];
};

static inline __attribute__((always_inline)) void free_faces(int scheme, int single, const struct face_row *r, double *k)
{
    const int most = lm_across_most(scheme);
    const double *const u = r->u;
    for (int f = 0; f < r->count; f++) {
        double c[2 * LM_WENO_MOST];
        LM_UNROLL
        for (int m = 0; m < 2 * most; m++)
            c[m] = r->c[m][f];
        k[f] = lm_carried(u[f], lm_face_value(scheme, single, c, u[f]), r->factor);
    }
}
