/* The sums over time of outputs that are means. */
#include <stdlib.h>
#include <string.h>

#include "checkpoint/parts.h"

static void put_sums(struct lm_h5 *h, hid_t all, const struct lm_checkpoint_sums *sums)
{
    const hsize_t dims[3] = {(hsize_t)sums->arrays, (hsize_t)sums->ny, (hsize_t)sums->nx};
    hid_t group = lm_h5_make_group(h, all, sums->name);
    lm_h5_put_whole(h, group, "samples", sums->samples);
    lm_h5_put_text(h, group, "what", sums->what);
    hid_t data = lm_h5_make_dataset(h, group, "values", H5T_NATIVE_DOUBLE, 3, dims, 0);
    if (h->status == LM_OK && H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, sums->values) < 0)
        lm_h5_error(h, "cannot write the sums of the output %s", sums->name);
    lm_h5_end(data);
    lm_h5_end(group);
}

void lm_checkpoint_put_sums(struct lm_h5 *h, const struct lm_checkpoint *head)
{
    hid_t all = -1;
    for (int k = 0; k < head->sums_count; k++) {
        if (head->sums[k].samples == 0)
            continue;
        if (all < 0)
            all = lm_h5_make_group(h, h->file, "sums");
        put_sums(h, all, &head->sums[k]);
    }
    lm_h5_end(all);
}

static void get_sums(struct lm_h5 *h, hid_t all, struct lm_checkpoint_sums *sums)
{
    const hsize_t dims[3] = {(hsize_t)sums->arrays, (hsize_t)sums->ny, (hsize_t)sums->nx};
    hid_t group = lm_h5_group(h, all, sums->name);
    char *what = lm_h5_get_text(h, group, "what");
    if (what && !strcmp(what, sums->what)) {
        const int64_t samples = lm_h5_get_whole(h, group, "samples");
        hid_t data = lm_h5_dataset(h, group, "values", H5T_NATIVE_DOUBLE, 3, dims);
        if (h->status == LM_OK && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, sums->values) < 0)
            lm_h5_error(h, "cannot read the sums of the output %s; the file is damaged", sums->name);
        sums->samples = h->status == LM_OK ? samples : 0;
        lm_h5_end(data);
    }
    free(what);
    lm_h5_end(group);
}

int lm_checkpoint_read_sums(const char *path, struct lm_checkpoint_sums *sums)
{
    struct lm_h5 h;
    sums->samples = 0;
    if (lm_h5_open(&h, path) == LM_OK && H5Lexists(h.file, "sums", H5P_DEFAULT) > 0) {
        hid_t all = lm_h5_group(&h, h.file, "sums");
        if (h.status == LM_OK && H5Lexists(all, sums->name, H5P_DEFAULT) > 0)
            get_sums(&h, all, sums);
        lm_h5_end(all);
    }
    return lm_h5_finish(&h, 0);
}
