/* Arrays of HDF5 files, and what is made of them: functions of x and y (src/config/data.c, potential.c). */
#ifndef LARMOR_CONFIG_DATA_H
#define LARMOR_CONFIG_DATA_H

#include "base/h5.h"
#include "larmor/config.h"

/* Value i of `count` along an axis is at first + i spacing. */
struct lm_data_axis {
    int count, is_periodic; /* 1: the array goes on periodically beyond its ends */
    double first, spacing;  /* d_i */
    double growth;          /* of the values over a period */
};

/* Values [y.count][x.count]. */
struct lm_samples {
    struct lm_data_axis x, y;
    double value[];
};

/* What an openPMD file says about the places of the values, in the units of the configuration. Axes are (y, x). */
struct lm_data_places {
    int is_known, is_single; /* is_single: the values are stored in single precision */
    double first[2], spacing[2];
};

/* The dataset `name`, with its counts but not its places, which *p says if the file does. h->status says
 * whether this failed; the caller frees what is returned. */
struct lm_samples *lm_data_array(struct lm_h5 *h, const struct lm_config *c, const char *name,
                                 struct lm_data_places *p);

/* Fills `first` and `spacing` of both axes: as the section gives the ends, else as the file, else the domain. The axes
 * are periodic where the domain is and the cells cover it. */
void lm_data_place(struct lm_samples *s, const struct lm_config *c, const struct lm_data_config *d,
                   const struct lm_data_places *p);

/* The vector potential A_z of the magnetic field d->magnetic_field, which has the components x and y on the faces of
 * cells: B_x = dA_z/dy and B_y = -dA_z/dx as differences of neighbouring values are those of the file to round-off. The
 * values are at the centres of the cells, and beyond the last ones where the axis is not periodic. It fails as above,
 * also if the field is not free of divergence. */
struct lm_samples *lm_data_potential(struct lm_h5 *h, const struct lm_config *c, const struct lm_data_config *d);

/* A value of the potential, `data` being the section (lm_sample of base/names.h): cubic between the values. More than
 * one cell beyond them B goes on as it is there. */
double lm_data_potential_at(const void *data, double x, double y);

#endif
