/* A pool owns pieces of memory that live equally long and are freed together. */
#ifndef LARMOR_BASE_POOL_H
#define LARMOR_BASE_POOL_H

#include <stddef.h>

struct lm_pool {
    void **piece;
    size_t count;
    int failed; /* a piece could not be allocated */
};

/* A piece of memory, cleared; NULL without memory, which `failed` remembers. */
void *lm_pool_zeros(struct lm_pool *pool, size_t count, size_t size);

/* The same, not cleared. */
void *lm_pool_take(struct lm_pool *pool, size_t bytes);

/* A copy; NULL for NULL. */
void *lm_pool_copy(struct lm_pool *pool, const void *from, size_t bytes);

void lm_pool_free(struct lm_pool *pool);

#endif
