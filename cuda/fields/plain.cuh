/* The plain parts of a domain with walls, bodies or voids: blocks of cells so far from all of these that a substep of B
 * is there what it is in a domain without them, and blocks that lie deep in a void. There a kernel takes all four
 * stages at once, that of faraday.cu or that of void_blocks.cu. stage.cu takes the stages of the tiles that are left.
 */
#ifndef LARMOR_FIELDS_PLAIN_CUH
#define LARMOR_FIELDS_PLAIN_CUH

#include "core/gpu.cuh"

/* Marks of a tile of stage.cu: what it and the cells around have, and that they have nothing but void. */
enum { HAS_VOID = 1, HAS_BODY = 2, ALL_VOID = 4 };

/* Blocks of columns x rows cells that share the cells from `from` to before `to`: all but the cells near walls. */
struct lm_gpu_blocks {
    int from[2], to[2];
    int columns, rows; /* of a block; fewer in the last ones */
    int across, up;    /* blocks; 0: there are none */
    uint8_t *is_plain; /* of each block */
};

struct lm_gpu_plain {
    struct lm_gpu_blocks plasma, voids;
    uint8_t *is_covered; /* of each tile of stage.cu: whether all of it is in plain blocks */
    uint8_t *is_left;    /* of each such tile; NULL: there are no plain blocks, and all tiles are left */
};

/* Tiles of stage.cu. */
enum { STAGE_TILE_X = 32, STAGE_TILE_Y = 8 };

/* Blocks of void_blocks.cu. */
enum { VOID_BLOCK_X = 32, VOID_BLOCK_Y = 24 };

/* The blocks that suit lm_gpu_advance_plain and lm_gpu_advance_void_blocks, without the arrays. There are none where
 * the domain is too small. There are none for plasma where a current from outside flows. */
struct lm_gpu_plain lm_gpu_plain_of(const struct lm_gpu *g);

/* Finds plain blocks and the tiles that are left. `marks`: of the tiles, 0 where a tile and what it reads are plain
 * plasma. `tiles`: how many there are along each axis. */
int lm_gpu_find_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, const uint8_t *marks, dim3 tiles);

/* The most columns of a block of lm_gpu_advance_plain; 0 where the GPU has too little shared memory. */
int lm_gpu_plain_columns(const struct lm_gpu *g);

/* A substep of B in plain blocks of plasma, from LM_B to g->next_b, in the stream g->beside.stream; faraday.cu. */
int lm_gpu_advance_plain(struct lm_gpu *g, const struct lm_gpu_blocks *p, enum lm_array ion_current,
                         const double *battery, double substep);

/* Whether lm_gpu_advance_void_blocks can be used: without a hyper-resistivity, and where shared memory is large enough.
 */
bool lm_gpu_has_void_blocks(const struct lm_gpu *g);

/* A substep of B and E_v in plain blocks of void, from LM_B and LM_VOID_E to g->next_b and g->general.next_void, in the
 * same stream. */
int lm_gpu_advance_void_blocks(struct lm_gpu *g, const struct lm_gpu_blocks *p, const double *battery, double substep);

#endif
