/* The nodes of E at bodies of all kinds and sizes, also such as are thinner than what a cell's places resolve. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/body_nodes.h"
#include "larmor/physics/numerics/hash.h"
#include "suite.h"

enum { CELLS = 4, BODIES = 5, DRAWS = 5000 };

/* Rectangles in cells; the last one that has a place is its body. */
struct shapes {
    int count;
    double low[BODIES][2], high[BODIES][2];
};

static int body_at(const void *shapes, double x, double y)
{
    const struct shapes *s = shapes;
    int body = 0;
    for (int k = 0; k < s->count; k++)
        if (x > s->low[k][0] && x < s->high[k][0] && y > s->low[k][1] && y < s->high[k][1])
            body = k + 1;
    return body;
}

static void make_nodes(const struct shapes *s, const int *fields, int is_periodic, struct lm_body_node *node)
{
    struct lm_grid g = lm_grid_make(CELLS, CELLS, CELLS, CELLS);
    uint8_t mask[CELLS * CELLS];
    for (int k = 0; k < 4; k++)
        g.sides.of[k] = is_periodic ? LM_PERIODIC : LM_REFLECTING;
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++)
            mask[j * CELLS + i] = (uint8_t)body_at(s, i + 0.5, j + 0.5);
    lm_body_nodes_make(&g, mask, fields, body_at, s, node);
}

static double uniform(uint64_t *random)
{
    return (double)(lm_mix((*random)++) >> 11) * 0x1p-53;
}

/* Half of the rectangles are thin, and half of them begin just before the face of a cell. */
static void draw(uint64_t *random, struct shapes *s, int *fields)
{
    s->count = 1 + (int)(BODIES * uniform(random));
    for (int k = 0; k < s->count; k++) {
        fields[k] = (int)(4 * uniform(random));
        for (int d = 0; d < 2; d++) {
            const double begin = CELLS * uniform(random);
            s->low[k][d] = uniform(random) < 0.5 ? floor(begin) - 0.06 * uniform(random) : begin;
            s->high[k][d] = s->low[k][d] + uniform(random) * (uniform(random) < 0.5 ? 0.12 : CELLS);
        }
    }
}

static void check_node(const struct lm_body_node *n, int draw)
{
    ck_assert_msg(n->kind <= LM_NODE_NARROW && n->plasma <= 16 && n->body <= 16, "draw %d: kind %d from %d and %d",
                  draw, n->kind, n->plasma, n->body);
    for (int k = 0; k < LM_NODE_PARTS; k++) {
        const int part = n->part[k];
        const int is_valid = n->kind == LM_NODE_NARROW ? part < LM_NODE_WHOLE
                             : n->kind == LM_NODE_CUT  ? part <= LM_NODE_WHOLE || part == LM_NODE_NO_FIELD
                                                       : 1;
        ck_assert_msg(is_valid, "draw %d: part %d of a node of kind %d", draw, part, n->kind);
    }
}

START_TEST(drawn_bodies_have_nodes)
{
    const struct lm_grid g = lm_grid_make(CELLS, CELLS, CELLS, CELLS);
    struct lm_body_node *node = calloc(lm_body_node_count(&g), sizeof *node);
    uint64_t random = 20261127;
    ck_assert_ptr_nonnull(node);
    for (int k = 0; k < DRAWS; k++) {
        struct shapes s;
        int fields[BODIES];
        draw(&random, &s, fields);
        make_nodes(&s, fields, k % 2, node);
        for (int j = 0; j < CELLS; j++)
            for (int i = 0; i < CELLS; i++)
                for (int d = 0; d < 3; d++)
                    check_node(&node[lm_body_node_index(&g, i, j) + (size_t)d], k);
    }
    free(node);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nodes of bodies");
    TCase *t = tcase_create("nodes of bodies");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, drawn_bodies_have_nodes);
    suite_add_tcase(suite, t);
    return suite_run(suite);
}
