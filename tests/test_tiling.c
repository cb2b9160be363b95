/* Tiles: bijections and exact integer arithmetic. test_tiling_single.c includes this file. */
#ifndef LM_PRECISION
#define LM_PRECISION 64
#endif

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "larmor/physics/numerics/rng.h"
#include "larmor/physics/particles/tile.h"
#include "require.h"
#include "suite.h"

START_TEST(wrap)
{
    for (int n = 1; n < 40; n++)
        for (int i = -200; i < 200; i++) {
            int r = lm_wrap(i, n);
            require(r >= 0 && r < n);
            require((i - r) % n == 0);
        }
}
END_TEST

START_TEST(tile_cell_is_a_bijection)
{
    static const int sizes[][2] = {{37, 21}, {8, 8}, {1, 1}, {1, 50}, {17, 1}, {33, 31}, {3, 2}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int size = 8; size <= 16; size += 8) {
            int nx = sizes[k][0], ny = sizes[k][1];
            struct lm_tiling t = lm_tiling_make(size, nx, ny);
            size_t cells = (size_t)(t.nx * t.ny * size * size);
            unsigned char *seen = calloc(cells, 1);
            for (int j = 0; j < ny; j++)
                for (int i = 0; i < nx; i++) {
                    uint32_t c = lm_tile_cell(&t, i, j);
                    require(c < cells);
                    require(!seen[c]++);
                    require((int)c / (size * size) == j / size * t.nx + i / size);
                }
            free(seen);
        }
}
END_TEST

/* From the domain to a tile and back, with every way to write one position: other home tiles, and whole periods of the
 * domain. */
static void check_place(int n, int size, int64_t g)
{
    int home, tiles = (n + size - 1) / size;
    lm_fix x = lm_local(g, size, &home);
    require(home >= 0 && home < tiles);
    require(x >= 0 && x < (lm_fix)size * LM_ONE);
    require(lm_global(x, home, size, n) == g);
    for (int tile = home > 3 ? home - 3 : 0; tile < tiles && tile <= home + 3; tile++)
        for (int turn = -2; turn <= 2; turn++) {
            int64_t cells = (int64_t)(home - tile) * size + (int64_t)turn * n;
            if (cells < -100 || cells > 100)
                continue;
            require(lm_global((lm_fix)(x + cells * (int64_t)LM_ONE), tile, size, n) == g);
        }
}

START_TEST(domain_and_tile)
{
    static const int lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 37, 100, 1000, 4096, 32000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int size = 8; size <= 16; size += 8) {
            int n = lengths[k];
            int64_t length = (int64_t)n << LM_FRACTION_BITS;
            const int64_t edges[] = {0, 1, length - 1, (int64_t)LM_ONE - 1, length - (int64_t)LM_ONE, length / 2};
            for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
                check_place(n, size, edges[e]);
            for (uint32_t r = 0; r < 2000; r++)
                check_place(n, size, (int64_t)(lm_random_at(4, n, LM_STREAM_POSITION, r, 0).a % (uint64_t)length));
        }
}
END_TEST

/* One unit to the left of 0 is the last position inside the domain, and not the length of the domain. */
START_TEST(wrap_at_the_edges)
{
    for (int n = 1; n < 50; n++) {
        int64_t length = (int64_t)n << LM_FRACTION_BITS;
        int last = (n - 1) / 8;
        require(lm_global(-1, 0, 8, n) == length - 1);
        require(lm_global((lm_fix)(length - (int64_t)last * 8 * (int64_t)LM_ONE), last, 8, n) == 0);
        require(lm_global((lm_fix)(-100 * LM_ONE), 0, 8, n) == (int64_t)lm_wrap(-100, n) << LM_FRACTION_BITS);
    }
}
END_TEST

/* The largest grid that grid.nx allows, with a particle as far beyond its edge as it may be. */
START_TEST(largest_grids)
{
    for (int n = 32640; n <= 32768; n++)
        for (int size = 8; size <= 16; size += 8) {
            int64_t length1 = (int64_t)(n - 1) << LM_FRACTION_BITS;
            int last = (n - 1) / size;
            check_place(n, size, length1 + (int64_t)LM_ONE - 1);
            int64_t x = length1 - ((int64_t)last * size << LM_FRACTION_BITS);
            for (int beyond = 1; beyond <= 100; beyond++) /* from the last cell */
                require(lm_global((lm_fix)(x + (int64_t)beyond * (int64_t)LM_ONE), last, size, n) ==
                        (int64_t)(beyond - 1) << LM_FRACTION_BITS);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create(LM_PRECISION == 64 ? "tiling, double" : "tiling, single");
    TCase *t = tcase_create("tiling");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, wrap);
    tcase_add_test(t, tile_cell_is_a_bijection);
    tcase_add_test(t, domain_and_tile);
    tcase_add_test(t, wrap_at_the_edges);
    tcase_add_test(t, largest_grids);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
