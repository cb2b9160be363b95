/* CUDA backend: which parts of a domain are plain (plain.cuh). */
#include "fields/plain.cuh"

#include "core/cells.cuh"
#include "fields/domain.cuh"

namespace
{

enum {
    READ = 8,       /* columns and rows around its cells that a substep reads: two for each stage */
    FROM_WALL = 16, /* plain cells are so far from walls */
    SMALLEST = 128, /* side of a domain for which this pays */
    ROWS = 32       /* of a block of plasma: with fewer it reads more than it advances, with more few are plain */
};
static_assert((int)ROWS >= (int)STAGE_TILE_Y && (int)VOID_BLOCK_Y >= (int)STAGE_TILE_Y &&
                  (int)VOID_BLOCK_X >= (int)STAGE_TILE_X,
              "blocks that a tile meets");

/* Tiles beside one that plain blocks do not cover, whose stages it needs: those within READ cells and one more, as
 * stage.cu reads three rows after a tile. */
enum { BESIDE_X = 1, BESIDE_Y = 2 };
static_assert(BESIDE_X * STAGE_TILE_X >= READ + 1 && BESIDE_Y * STAGE_TILE_Y >= READ + 1, "tiles that stages read");

struct tiling {
    dim3 tiles;
    int nx, ny, walls_x, walls_y;
};

/* The tile of cell i along an axis of n cells. */
__device__ __forceinline__ int tile_along(int i, int n, int walls, int size)
{
    return walls ? (i + LM_GHOST) / size : lm_wrap(i, n) / size;
}

/* A warp for each block. A block is plain whose tiles have all marks of `wanted` and no others. */
__global__ void plain_kernel(tiling t, struct lm_gpu_blocks p, const uint8_t *marks, int wanted)
{
    const int x = p.from[0] + (int)blockIdx.x * p.columns, y = p.from[1] + (int)blockIdx.y * p.rows;
    const int end_x = min(x + p.columns, p.to[0]) + READ, end_y = min(y + p.rows, p.to[1]) + READ;
    int found = 0;
    for (int j = y - READ + (int)threadIdx.x; j < end_y; j += LANES) {
        const unsigned row = (unsigned)tile_along(j, t.ny, t.walls_y, STAGE_TILE_Y) * t.tiles.x;
        for (int i = x - READ; i < end_x; i++)
            found |= marks[row + tile_along(i, t.nx, t.walls_x, STAGE_TILE_X)] != wanted;
    }
    found = __any_sync(0xffffffffu, found);
    if (threadIdx.x == 0)
        p.is_plain[blockIdx.y * gridDim.x + blockIdx.x] = !found;
}

__device__ __forceinline__ bool is_in(const struct lm_gpu_blocks &p, int i, int j)
{
    return p.across > 0 && i >= p.from[0] && j >= p.from[1] && i < p.to[0] && j < p.to[1] &&
           p.is_plain[(j - p.from[1]) / p.rows * p.across + (i - p.from[0]) / p.columns];
}

/* One thread a tile. All blocks but the last ones are at least as large as a tile, so that the corners of a tile are in
 * all blocks that the tile meets. */
__global__ void covered_kernel(tiling t, struct lm_gpu_plain p)
{
    const unsigned n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= t.tiles.x * t.tiles.y)
        return;
    const int x = (int)(n % t.tiles.x) * STAGE_TILE_X - (t.walls_x ? LM_GHOST : 0),
              y = (int)(n / t.tiles.x) * STAGE_TILE_Y - (t.walls_y ? LM_GHOST : 0);
    const int last_x = min(x + STAGE_TILE_X, t.nx + (t.walls_x ? LM_GHOST : 0)) - 1,
              last_y = min(y + STAGE_TILE_Y, t.ny + (t.walls_y ? LM_GHOST : 0)) - 1;
    const auto covers = [&](const struct lm_gpu_blocks &b) {
        return is_in(b, x, y) && is_in(b, last_x, y) && is_in(b, x, last_y) && is_in(b, last_x, last_y);
    };
    p.is_covered[n] = covers(p.plasma) || covers(p.voids);
}

/* One thread a tile. */
__global__ void left_kernel(tiling t, struct lm_gpu_plain p)
{
    const unsigned n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= t.tiles.x * t.tiles.y)
        return;
    const int x = (int)(n % t.tiles.x), y = (int)(n / t.tiles.x);
    bool covered = true;
    for (int dy = -BESIDE_Y; dy <= BESIDE_Y; dy++)
        for (int dx = -BESIDE_X; dx <= BESIDE_X; dx++) {
            const int column = t.walls_x ? x + dx : lm_wrap(x + dx, (int)t.tiles.x),
                      row = t.walls_y ? y + dy : lm_wrap(y + dy, (int)t.tiles.y);
            if (column >= 0 && row >= 0 && column < (int)t.tiles.x && row < (int)t.tiles.y)
                covered = covered && p.is_covered[(unsigned)row * t.tiles.x + (unsigned)column];
        }
    p.is_left[n] = !covered;
}

} // namespace

/* Cuts the cells of p into blocks of at most so many columns, and so many rows. */
static void cut(struct lm_gpu_blocks *p, int columns, int rows)
{
    const int width = p->to[0] - p->from[0], height = p->to[1] - p->from[1];
    p->columns = columns;
    p->rows = rows;
    p->across = (width + columns - 1) / columns;
    p->up = (height + rows - 1) / rows;
}

struct lm_gpu_plain lm_gpu_plain_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int n[2] = {grid->nx, grid->ny}, widest = lm_gpu_plain_columns(g);
    struct lm_gpu_blocks all = {};
    struct lm_gpu_plain p = {};
    for (int axis = 0; axis < 2; axis++) {
        all.from[axis] = lm_field_walls(&g->sides, axis) ? FROM_WALL : 0;
        all.to[axis] = n[axis] - all.from[axis];
        if (all.to[axis] - all.from[axis] < SMALLEST)
            return p;
    }
    p.plasma = p.voids = all;
    if (lm_gpu_has_void_blocks(g))
        cut(&p.voids, VOID_BLOCK_X, VOID_BLOCK_Y);
    if (widest > 0 && !g->base.setup.external_current) {
        const int width = all.to[0] - all.from[0], across = (width + widest - 1) / widest;
        cut(&p.plasma, (width + across - 1) / across, ROWS);
    }
    return p;
}

static void find(struct lm_gpu *g, const tiling &t, const struct lm_gpu_blocks *p, const uint8_t *marks, int wanted)
{
    if (p->across > 0)
        plain_kernel<<<dim3((unsigned)p->across, (unsigned)p->up), LANES, 0, g->stream>>>(t, *p, marks, wanted);
}

int lm_gpu_find_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, const uint8_t *marks, dim3 tiles)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const tiling t = {tiles, grid->nx, grid->ny, lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1)};
    find(g, t, &p->plasma, marks, 0);
    find(g, t, &p->voids, marks, HAS_VOID | ALL_VOID);
    covered_kernel<<<line_blocks((size_t)tiles.x * tiles.y), THREADS, 0, g->stream>>>(t, *p);
    left_kernel<<<line_blocks((size_t)tiles.x * tiles.y), THREADS, 0, g->stream>>>(t, *p);
    return LM_GPU_LAUNCHED(g, "the plain parts of the domain");
}
