/* CUDA backend: which part of a domain is plain (plain.cuh). */
#include "fields/plain.cuh"

#include "core/cells.cuh"
#include "fields/domain.cuh"

namespace
{

enum {
    READ = 8,       /* columns and rows around its cells that a substep reads: two for each stage */
    FROM_WALL = 16, /* plain cells are so far from walls */
    SMALLEST = 128, /* side of a domain for which this pays */
    ROWS = 32       /* of a block: with fewer it reads more than it advances, with more few blocks are plain */
};
static_assert((int)ROWS > (int)STAGE_TILE_Y, "blocks that a tile meets");

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

/* A warp for each block. */
__global__ void plain_kernel(tiling t, struct lm_gpu_plain p, const uint8_t *marks)
{
    const int x = p.from[0] + (int)blockIdx.x * p.columns, y = p.from[1] + (int)blockIdx.y * p.rows;
    const int end_x = min(x + p.columns, p.to[0]) + READ, end_y = min(y + p.rows, p.to[1]) + READ;
    int found = 0;
    for (int j = y - READ + (int)threadIdx.x; j < end_y; j += LANES) {
        const unsigned row = (unsigned)tile_along(j, t.ny, t.walls_y, STAGE_TILE_Y) * t.tiles.x;
        for (int i = x - READ; i < end_x; i++)
            found |= marks[row + tile_along(i, t.nx, t.walls_x, STAGE_TILE_X)];
    }
    found = __any_sync(0xffffffffu, found);
    if (threadIdx.x == 0)
        p.is_plain[blockIdx.y * gridDim.x + blockIdx.x] = !found;
}

__device__ __forceinline__ bool is_plain(const struct lm_gpu_plain &p, int i, int j)
{
    return i >= p.from[0] && j >= p.from[1] && i < p.to[0] && j < p.to[1] &&
           p.is_plain[(j - p.from[1]) / p.rows * p.across + (i - p.from[0]) / p.columns];
}

/* One thread a tile. All blocks but the last ones are larger than a tile, so that its corners are in all blocks that it
 * meets. */
__global__ void covered_kernel(tiling t, struct lm_gpu_plain p)
{
    const unsigned n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= t.tiles.x * t.tiles.y)
        return;
    const int x = (int)(n % t.tiles.x) * STAGE_TILE_X - (t.walls_x ? LM_GHOST : 0),
              y = (int)(n / t.tiles.x) * STAGE_TILE_Y - (t.walls_y ? LM_GHOST : 0);
    const int last_x = min(x + STAGE_TILE_X, t.nx + (t.walls_x ? LM_GHOST : 0)) - 1,
              last_y = min(y + STAGE_TILE_Y, t.ny + (t.walls_y ? LM_GHOST : 0)) - 1;
    p.is_covered[n] =
        is_plain(p, x, y) && is_plain(p, last_x, y) && is_plain(p, x, last_y) && is_plain(p, last_x, last_y);
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

/* One thread a cell. */
__global__ void take_plain_kernel(domain d, struct lm_gpu_plain p, const double *from, double *to)
{
    cell c;
    if (!my_cell(d.s, 0, c) || !is_plain(p, c.i, c.j))
        return;
    const size_t k = at(d.s, c.i, c.j);
    const double b[3] = {from[k], from[d.s.pitch + k], from[2 * d.s.pitch + k]};
    each_periodic(d.s, d.walls_x, d.walls_y, c.i, c.j, [&](unsigned image) {
        LM_UNROLL
        for (int n = 0; n < 3; n++)
            to[n * d.s.pitch + image] = b[n];
    });
}

} // namespace

struct lm_gpu_plain lm_gpu_plain_of(const struct lm_gpu *g)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const int n[2] = {grid->nx, grid->ny}, widest = lm_gpu_plain_columns(g);
    struct lm_gpu_plain p = {};
    for (int axis = 0; axis < 2; axis++) {
        p.from[axis] = lm_field_walls(&g->sides, axis) ? FROM_WALL : 0;
        p.to[axis] = n[axis] - p.from[axis];
        if (p.to[axis] - p.from[axis] < SMALLEST)
            return p;
    }
    if (widest == 0 || !g->general.used || g->base.setup.external_current)
        return p;
    const int width = p.to[0] - p.from[0], height = p.to[1] - p.from[1];
    p.across = (width + widest - 1) / widest;
    p.columns = (width + p.across - 1) / p.across;
    p.across = (width + p.columns - 1) / p.columns;
    p.rows = ROWS;
    p.up = (height + ROWS - 1) / ROWS;
    return p;
}

int lm_gpu_find_plain(struct lm_gpu *g, const struct lm_gpu_plain *p, const uint8_t *marks, dim3 tiles)
{
    const struct lm_grid *grid = &g->base.setup.grid;
    const tiling t = {tiles, grid->nx, grid->ny, lm_field_walls(&g->sides, 0), lm_field_walls(&g->sides, 1)};
    plain_kernel<<<dim3((unsigned)p->across, (unsigned)p->up), LANES, 0, g->stream>>>(t, *p, marks);
    covered_kernel<<<line_blocks((size_t)tiles.x * tiles.y), THREADS, 0, g->stream>>>(t, *p);
    left_kernel<<<line_blocks((size_t)tiles.x * tiles.y), THREADS, 0, g->stream>>>(t, *p);
    return LM_GPU_LAUNCHED(g, "the plain part of the domain");
}

int lm_gpu_take_plain(struct lm_gpu *g, const struct lm_gpu_plain *p)
{
    take_plain_kernel<<<blocks_for(g, 0), THREADS, 0, g->stream>>>(domain_of(g), *p, g->next_b, g->array[LM_B]);
    return LM_GPU_LAUNCHED(g, "B of the plain part");
}
