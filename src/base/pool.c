#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* The pool owns `memory` from here on. */
static void *own(struct lm_pool *pool, void *memory)
{
    void **list = memory ? realloc(pool->piece, (pool->count + 1) * sizeof *list) : NULL;
    if (!list) {
        free(memory);
        pool->failed = 1;
        return NULL;
    }
    pool->piece = list;
    return pool->piece[pool->count++] = memory;
}

void *lm_pool_zeros(struct lm_pool *pool, size_t count, size_t size)
{
    return own(pool, calloc(count > 0 ? count : 1, size));
}

void *lm_pool_take(struct lm_pool *pool, size_t bytes)
{
    return own(pool, malloc(bytes > 0 ? bytes : 1));
}

void *lm_pool_copy(struct lm_pool *pool, const void *from, size_t bytes)
{
    void *to = from ? lm_pool_take(pool, bytes) : NULL;
    return to ? memcpy(to, from, bytes) : NULL;
}

void lm_pool_free(struct lm_pool *pool)
{
    for (size_t k = 0; k < pool->count; k++)
        free(pool->piece[k]);
    free(pool->piece);
    *pool = (struct lm_pool){NULL, 0, 0};
}
