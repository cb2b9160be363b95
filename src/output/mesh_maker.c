#include "output/mesh_maker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

const char *const lm_mesh_axes[3] = {"x", "y", "z"};
const struct lm_cell_offset lm_mesh_centre = {0, 0};

int lm_mesh_wants(const struct lm_mesh_maker *m, enum lm_quantity quantity)
{
    return m->request->wanted >> quantity & 1;
}

double *lm_mesh_add(struct lm_mesh_maker *m, const char *record, const char *component, int kind,
                    struct lm_cell_offset offset)
{
    assert(m->count < LM_MAX_MESHES);
    double *data = calloc(m->coarse.size, sizeof *data);
    if (!data) {
        m->status = lm_fail(LM_FAILED, "not enough memory for an output of fields");
        return NULL;
    }
    char *name = m->name[m->count];
    snprintf(name, LM_MESH_NAME, "%s", record);
    const double of_file = 1.0 / m->request->coarsen;
    m->mesh[m->count++] = (struct lm_mesh){.record = name,
                                           .component = component,
                                           .kind = kind,
                                           .offset = {offset.x * of_file, offset.y * of_file},
                                           .data = data};
    return data;
}

/* Adds an array to the sums over time, and replaces it by the mean. */
static void join_sums(struct lm_mesh_maker *m, double *values)
{
    const struct lm_checkpoint_sums *sums = m->request->sums;
    const double samples = (double)(sums->samples + 1);
    double *sum = sums->values + (size_t)m->summed++ * m->coarse.cells;
    assert(m->summed <= sums->arrays);
    for (int j = 0; j < m->coarse.ny; j++)
        for (int i = 0; i < m->coarse.nx; i++, sum++) {
            double *value = &values[lm_at(&m->coarse, i, j)];
            *sum = sums->samples == 0 ? *value : *sum + *value;
            *value = *sum / samples;
        }
}

void lm_mesh_coarsen(struct lm_mesh_maker *m, const double *values, size_t stride, double *out)
{
    const int by = m->request->coarsen;
#pragma omp parallel for num_threads(m->threads)
    for (int j = 0; j < m->coarse.ny; j++)
        for (int i = 0; i < m->coarse.nx; i++) {
            const double *first = values + (size_t)(m->request->region.from_y + j * by) * stride +
                                  (size_t)(m->request->region.from_x + i * by);
            double sum = 0;
            for (int b = 0; b < by; b++)
                for (int a = 0; a < by; a++)
                    sum += first[(size_t)b * stride + (size_t)a];
            out[lm_at(&m->coarse, i, j)] = by == 1 ? sum : sum / (by * by);
        }
    if (m->request->sums)
        join_sums(m, out);
}

void lm_mesh_coarsen_array(struct lm_mesh_maker *m, const double *array, double *out)
{
    lm_mesh_coarsen(m, array + lm_at(&m->grid, 0, 0), (size_t)m->grid.stride, out);
}

void lm_mesh_coarsen_of_b(struct lm_mesh_maker *m, const double *b, int component,
                          struct lm_vector (*of)(const struct lm_grid *, struct lm_view), double *out)
{
    const struct lm_grid *g = &m->grid;
    const struct lm_view all = {b, b + g->size, b + 2 * g->size, g->stride};
#pragma omp parallel for num_threads(m->threads)
    for (int j = 0; j < g->ny; j++)
        for (int i = 0; i < g->nx; i++) {
            const size_t k = lm_at(g, i, j);
            const struct lm_vector v = of(g, lm_view_at(all, (long)k));
            m->work[k] = component == 0 ? v.x : component == 1 ? v.y : v.z;
        }
    lm_mesh_coarsen_array(m, m->work, out);
}

void lm_mesh_add_array(struct lm_mesh_maker *m, enum lm_array array, const char *record, const char *component,
                       int kind, struct lm_cell_offset offset)
{
    double *out = m->status ? NULL : lm_mesh_add(m, record, component, kind, offset);
    if (out)
        m->status = lm_sim_get_array(m->sim, array, m->work);
    if (out && !m->status)
        lm_mesh_coarsen_array(m, m->work, out);
}
