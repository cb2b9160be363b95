/* Tiles of the domain that a block keeps in shared memory, with some cells around.
 *
 * On an axis with walls the tiles begin with the ghost cells, and the last one ends with them: it overlaps the one
 * before. So the nodes inside whose E a ghost cell takes are in the same tile.
 */
#ifndef LARMOR_FIELDS_TILE_CUH
#define LARMOR_FIELDS_TILE_CUH

#include "fields/domain.cuh"

namespace
{

/* A cell along an axis as the arrays have it: its periodic image in the domain, or the last ghost cell. */
__device__ __forceinline__ int cell_along(int i, int n, int walls)
{
    if (walls)
        return max(-LM_GHOST, min(i, n + LM_GHOST - 1));
    return i >= 0 && i < n ? i : lm_wrap(i, n);
}

__device__ __forceinline__ size_t element(const domain &d, int i, int j)
{
    return at(d.s, cell_along(i, d.s.nx, d.walls_x), cell_along(j, d.s.ny, d.walls_y));
}

/* X x Y cells, and so many columns and rows around them as the arrays of the tile have. */
template <int X_, int Y_, int BEFORE_, int AFTER_> struct tile_of {
    enum {
        X = X_,
        Y = Y_,
        BEFORE = BEFORE_,
        AFTER = AFTER_,
        WIDTH = BEFORE + X + AFTER,
        HEIGHT = BEFORE + Y + AFTER,
        SIZE = WIDTH * HEIGHT
    };
    static_assert(X_ >= 2 * LM_GHOST && Y_ >= 2 * LM_GHOST, "a tile has the mirror images of its ghost cells");
    int x, y, own_x, own_y; /* the first cell; the first one that no other tile stores */
    int threads;            /* of a block */

    __device__ __forceinline__ tile_of(const domain &d, int threads_) : threads(threads_)
    {
        x = own_x = (int)blockIdx.x * X - (d.walls_x ? LM_GHOST : 0);
        y = own_y = (int)blockIdx.y * Y - (d.walls_y ? LM_GHOST : 0);
        if (d.walls_x)
            x = max(-LM_GHOST, min(x, d.s.nx + LM_GHOST - X));
        if (d.walls_y)
            y = max(-LM_GHOST, min(y, d.s.ny + LM_GHOST - Y));
    }

    static dim3 blocks(const struct lm_gpu *g)
    {
        const int nx = g->base.setup.grid.nx + (lm_field_walls(&g->sides, 0) ? 2 * LM_GHOST : 0),
                  ny = g->base.setup.grid.ny + (lm_field_walls(&g->sides, 1) ? 2 * LM_GHOST : 0);
        return dim3((unsigned)(nx + X - 1) / X, (unsigned)(ny + Y - 1) / Y);
    }

    /* The number of the tile. */
    __device__ __forceinline__ static unsigned number()
    {
        return blockIdx.y * gridDim.x + blockIdx.x;
    }

    /* Calls body(column, row) for the tile in column x and row y of `tiles`, and for those around as far as `reach`. */
    template <class F>
    __device__ __forceinline__ static void each_beside(const domain &d, dim3 tiles, int x, int y, int reach, F body)
    {
        for (int row = y - reach; row <= y + reach; row++)
            for (int column = x - reach; column <= x + reach; column++) {
                const int i = d.walls_x ? column : lm_wrap(column, (int)tiles.x),
                          j = d.walls_y ? row : lm_wrap(row, (int)tiles.y);
                if (i >= 0 && j >= 0 && i < (int)tiles.x && j < (int)tiles.y)
                    body(i, j);
            }
    }

    /* Calls body(i, j, m) for the cells of the tile, and for so many columns and rows before and after it: the cell and
     * its element in the arrays of the tile. A thread gets the same cells each time. */
    template <int FROM, int BEYOND, class F> __device__ __forceinline__ void each(F body) const
    {
        enum { COLUMNS = FROM + X + BEYOND, ROWS = FROM + Y + BEYOND };
        for (int n = (int)threadIdx.x; n < COLUMNS * ROWS; n += threads) {
            const int column = n % COLUMNS - FROM, row = n / COLUMNS - FROM;
            body(x + column, y + row, (BEFORE + row) * WIDTH + BEFORE + column);
        }
    }

    /* The same for cells that no other tile stores. */
    template <class F> __device__ __forceinline__ void each_own(F body) const
    {
        each<0, 0>([&](int i, int j, int m) {
            if (i >= own_x && j >= own_y)
                body(i, j, m);
        });
    }

    __device__ __forceinline__ static struct lm_view view(const double *a, int m)
    {
        return {a + m, a + SIZE + m, a + 2 * SIZE + m, WIDTH};
    }

    __device__ __forceinline__ static void put(double *a, int m, const struct lm_vector &v)
    {
        a[m] = v.x;
        a[SIZE + m] = v.y;
        a[2 * SIZE + m] = v.z;
    }
};

} // namespace

#endif
