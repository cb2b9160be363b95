/* The arrays of a simulation of the library, by their names in the output of the fields. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "library/host.h"
#include "library/simulation.h"
#include "output/grid_quantities.h"

static const struct lm_cell_offset centre = {0, 0};

__attribute__((format(printf, 4, 5))) static struct lm_library_array *
add(struct larmor_simulation *sim, int array, struct lm_cell_offset place, const char *format, ...)
{
    struct lm_library_array *a = &sim->arrays[sim->array_count++];
    *a = (struct lm_library_array){.array = array, .x = place.x, .y = place.y};
    va_list args;
    va_start(args, format);
    vsnprintf(a->name, sizeof a->name, format, args);
    va_end(args);
    return a;
}

void lm_library_list_arrays(struct larmor_simulation *sim)
{
    static const char *const axes[3] = {"/x", "/y", "/z"};
    const struct lm_config *c = &sim->config;
    for (int k = 0; k < LM_GRID_QUANTITIES; k++) {
        const struct lm_grid_quantity *q = &lm_grid_quantities[k];
        for (int d = 0; d < q->components; d++) {
            struct lm_library_array *a =
                add(sim, q->array + d, q->place[d], "%s%s", q->record, q->components == 3 ? axes[d] : "");
            a->time = q->time * c->run.dt;
            a->not_at_once = k == LM_Q_E;
        }
    }
    for (int s = 0; s < c->species_count; s++)
        add(sim, LM_SPECIES_N + s, centre, "n_%s", c->species[s].name)->not_at_once = 1;
    for (int f = 0; f < c->background_count; f++)
        add(sim, LM_BACKGROUND + f, centre, "background_%s", c->background[f].name);
}

int larmor_array_count(const struct larmor_simulation *sim)
{
    return sim->array_count;
}

const char *larmor_array_name(const struct larmor_simulation *sim, int k)
{
    return k >= 0 && k < sim->array_count ? sim->arrays[k].name : NULL;
}

/* NULL: there is no array of that name, and the failure has been reported. */
static const struct lm_library_array *find(const struct larmor_simulation *sim, const char *name)
{
    for (int k = 0; k < sim->array_count; k++)
        if (!strcmp(sim->arrays[k].name, name))
            return &sim->arrays[k];
    lm_fail(LM_BAD_INPUT, "%s: there is no array %.64s: larmor_array_name lists the names", sim->config.file, name);
    return NULL;
}

/* The same for an array whose values are known. */
static int find_known(const struct larmor_simulation *sim, const char *name, const struct lm_library_array **out)
{
    LM_TRY(lm_library_need_state(sim));
    *out = find(sim, name);
    if (!*out)
        return LM_BAD_INPUT;
    if ((*out)->not_at_once && lm_sim_step_number(sim->sim) == sim->restarted)
        return lm_fail(LM_BAD_INPUT,
                       "%s: a checkpoint does not hold %s: it is known again after the first step from a restart",
                       sim->config.file, name);
    return LM_OK;
}

int larmor_array_place(const struct larmor_simulation *sim, const char *name, double *x, double *y, double *time)
{
    LM_LIBRARY_CALL();
    const struct lm_library_array *a = find(sim, name);
    if (!a)
        return LM_BAD_INPUT;
    *x = a->x;
    *y = a->y;
    *time = a->time;
    return LM_OK;
}

int larmor_array_view(struct larmor_simulation *sim, const char *name, const double **first, int64_t *stride)
{
    LM_LIBRARY_CALL();
    const struct lm_grid g = lm_config_grid(&sim->config);
    const struct lm_library_array *a;
    LM_TRY(find_known(sim, name, &a));
    const double *array = lm_sim_view_array(sim->sim, a->array);
    *first = array ? array + lm_at(&g, 0, 0) : NULL;
    *stride = g.stride;
    return LM_OK;
}

int larmor_array_copy(struct larmor_simulation *sim, const char *name, double *out)
{
    LM_LIBRARY_CALL();
    const struct lm_grid g = lm_config_grid(&sim->config);
    const struct lm_library_array *a;
    LM_TRY(find_known(sim, name, &a));
    const double *array = lm_sim_view_array(sim->sim, a->array);
    double *copy = array ? NULL : malloc(g.size * sizeof *copy);
    int status = array || copy ? LM_OK : lm_fail(LM_FAILED, "not enough memory for a copy of %s", name);
    if (copy)
        status = lm_sim_get_array(sim->sim, a->array, copy);
    if (!status)
        lm_grid_pack(&g, array ? array : copy, out);
    free(copy);
    return status;
}
