/* The plain part of a domain with walls, bodies or voids: blocks of cells so far from all of these that a substep of B
 * is there what it is in a domain without them. There the kernel of faraday.cu takes all four stages at once, and
 * stage.cu takes the stages of the tiles that are left.
 */
#ifndef LARMOR_FIELDS_PLAIN_CUH
#define LARMOR_FIELDS_PLAIN_CUH

#include "core/gpu.cuh"

/* Blocks of columns x rows cells that share the cells from `from` to before `to`: all but the cells near walls. */
struct lm_gpu_plain {
    int from[2], to[2];
    int columns, rows;   /* of a block; fewer in the last ones */
    int across, up;      /* blocks */
    uint8_t *is_plain;   /* of each block */
    uint8_t *is_covered; /* of each tile of stage.cu: whether all of it is in plain blocks */
    uint8_t *is_left;    /* of each such tile; NULL: there are no plain blocks, and all tiles are left */
};

/* Tiles of stage.cu. */
enum { STAGE_TILE_X = 32, STAGE_TILE_Y = 8 };

/* The blocks that suit lm_gpu_advance_plain, without the arrays. There are none where the domain is too small, where a
 * current from outside flows, or without walls and bodies: there a void takes most of the time. */
struct lm_gpu_plain lm_gpu_plain_of(const struct lm_gpu *g);

/* Finds plain blocks and the tiles that are left. `marks`: of the tiles, 0 where a tile and what it reads are plain.
 * `tiles`: how many there are along each axis. */
int lm_gpu_find_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, const uint8_t *marks, dim3 tiles);

/* The most columns of a block of lm_gpu_advance_plain; 0 where the GPU has too little shared memory. */
int lm_gpu_plain_columns(const struct lm_gpu *g);

/* A substep of B in plain blocks, from LM_B to g->next_b; faraday.cu. */
int lm_gpu_advance_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, enum lm_array ion_current,
                         const double *battery, double substep);

/* g->next_b of plain blocks goes to LM_B. */
int lm_gpu_take_plain(struct lm_gpu *g, const struct lm_gpu_plain *p);

#endif
