/* CPU backend: loops over whole arrays, ghost cells included: copies, and the closure of the electrons. */
#include "cpu/fields.h"

void lm_cpu_copy_array(const struct lm_cpu *c, double *to, const double *from)
{
    size_t size = c->base.setup.grid.size;
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

int lm_cpu_copy(struct lm_backend *b, enum lm_array to, enum lm_array from, int count)
{
    struct lm_cpu *c = lm_cpu_of(b);
    for (int k = 0; k < count; k++)
        lm_cpu_copy_array(c, c->array[(int)to + k], c->array[(int)from + k]);
    return LM_OK;
}

int lm_cpu_closure(struct lm_backend *b, enum lm_array density, enum lm_array other)
{
    struct lm_cpu *c = lm_cpu_of(b);
    const struct lm_ohm *o = &b->setup.ohm;
    size_t size = b->setup.grid.size;
    const double *n = c->array[density], *m = c->array[other];
    double *floored = c->array[LM_FLOORED], *p = c->array[LM_PRESSURE];
#pragma omp parallel for num_threads(c->grid_threads)
    for (size_t i = 0; i < size; i++) {
        floored[i] = lm_floored_mean(n[i], m[i], o);
        p[i] = lm_pressure(floored[i], o);
    }
    if (o->evolved)
        lm_cpu_evolved_pressure(c);
    return LM_OK;
}
