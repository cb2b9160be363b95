#include "output/info_samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The numbers of a dataset of whole numbers, and how many there are. The caller frees. */
static int64_t *read_whole(struct lm_h5 *h, const char *name, hsize_t *count)
{
    *count = lm_h5_length(h, h->file, name);
    int64_t *values = malloc((*count + 1) * sizeof *values);
    hid_t data = lm_h5_dataset(h, h->file, name, H5T_NATIVE_INT64, 1, count);
    if (!values)
        lm_h5_wrong(h, "not enough memory for %s", name);
    lm_h5_read_rows(h, data, H5T_NATIVE_INT64, 0, *count, values);
    lm_h5_end(data);
    return values;
}

static void print_samples(struct lm_h5 *h, FILE *out)
{
    const double dt = lm_h5_get_real(h, h->file, "dt");
    hsize_t count;
    int64_t *step = read_whole(h, "step", &count);
    if (h->status == LM_OK && count == 0)
        lm_h5_wrong(h, "has no samples; the file is damaged");
    if (h->status == LM_OK)
        fprintf(out,
                "  samples    %" PRIu64 "\n  steps      %" PRId64 " to %" PRId64
                "\n  times      %.10g to %.10g 1/Omega_ci\n",
                (uint64_t)count, step[0], step[count - 1], dt * (double)step[0], dt * (double)step[count - 1]);
    free(step);
}

void lm_info_track(struct lm_h5 *h, FILE *out)
{
    char *species = lm_h5_get_text(h, h->file, "species");
    uint64_t gone = 0;
    hsize_t ions;
    int64_t *left = read_whole(h, "left", &ions);
    for (hsize_t k = 0; h->status == LM_OK && k < ions; k++)
        gone += left[k] >= 0;
    if (h->status == LM_OK)
        fprintf(out, "%s: orbits of %" PRIu64 " ions of %s, of which %" PRIu64 " have left\n", h->path, (uint64_t)ions,
                species, gone);
    print_samples(h, out);
    free(species);
    free(left);
}

void lm_info_probe(struct lm_h5 *h, FILE *out)
{
    const hsize_t points = lm_h5_length(h, h->file, "x_points");
    struct lm_h5_links links = lm_h5_links(h, h->file);
    if (h->status == LM_OK)
        fprintf(out, "%s: values at %" PRIu64 " points\n", h->path, (uint64_t)points);
    print_samples(h, out);
    for (int k = 0; h->status == LM_OK && k < links.count; k++) {
        hid_t data = H5Dopen2(h->file, links.name[k], H5P_DEFAULT);
        char *units = data >= 0 && lm_h5_has(data, "units") ? lm_h5_get_text(h, data, "units") : NULL;
        if (units)
            fprintf(out, "  column     %s [%s]\n", links.name[k], units);
        free(units);
        lm_h5_end(data);
    }
    free(links.name);
}
