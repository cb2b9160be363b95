/* What the parts of the reader of configurations share. config.c calls the steps one after the other: ini.c reads
 * lines, apply.c stores the values of keys, and check.c checks what they mean together, with one file for each kind of
 * section. */
#ifndef LARMOR_CONFIG_READER_H
#define LARMOR_CONFIG_READER_H

#include "config/ini.h"
#include "config/keys.h"
#include "larmor/config.h"

struct lm_config_reader {
    struct lm_config *config;
    struct lm_ini ini;
    struct lm_problems problems;
    /* The line that sets a key, LM_COMMAND_LINE, or 0: nothing sets it. The second array is for named sections. */
    int key_line[LM_MAX_KEYS];
    int named_key_line[LM_NAMED_KINDS][LM_MAX_NAMED][LM_MAX_KEYS];
    int const_line[64], function_line[64]; /* of the definitions */
    int bad_section[LM_NAMED_KINDS];       /* 1: a section of this kind has an error in its name */
    FILE *notes;                           /* on former names of keys; becomes config->notes */
    int unusable_values; /* 1: a size or a constant is wrong, so expressions are parsed but not evaluated */
};

/* A part of the configuration with keys of its own: one named section, or all sections without a name. */
struct lm_scope {
    const struct lm_named *kind; /* NULL: not a named section */
    void *base;                  /* the struct that holds its members */
    const int *lines;            /* the lines that set its keys */
    int line;                    /* the line of its header */
    char section[LM_INI_NAME];   /* "species.p" */
};

/* Scope k of a reader whose entries have been applied. k = 0 has all sections without a name; the named sections
 * follow. Returns 0 where there is no scope k. */
int lm_config_scope(const struct lm_config_reader *r, int k, struct lm_scope *out);

/* 1 when the scope has this key. */
int lm_scope_has(const struct lm_scope *scope, const struct lm_key *key);
/* The name of the section of a key in messages. */
const char *lm_scope_section(const struct lm_scope *scope, const struct lm_key *key);

/* The parts of an override "section.name=value". */
struct lm_override {
    char section[LM_INI_NAME], name[LM_INI_NAME];
    const char *key;   /* `name`, or where that is a former name of a key, the present one */
    const char *value; /* in the text */
};
/* Returns 0 where the text has another form. */
int lm_config_split(const char *text, struct lm_override *out);

/* Puts one override "section.key=value" into the list of entries. LM_FAILED: no memory. */
int lm_config_override(struct lm_config_reader *r, const char *text);

/* Stores the defaults, makes the items of all named sections, and stores the values of all entries but numbers that are
 * given as expressions. */
void lm_config_apply(struct lm_config_reader *r);

/* The key that an entry sets, and the struct that holds its member; NULL: there is none. *lines: the lines that set the
 * keys of that struct. */
const struct lm_key *lm_config_target(struct lm_config_reader *r, const struct lm_ini_entry *e, void **base,
                                      int **lines);

/* The line of the header of a section; LM_WHOLE_FILE: there is none. */
int lm_config_header_line(const struct lm_config_reader *r, const char *section);

/* 0 when a misspelt name, or a line that cannot be read, may be meant as this key, which nothing sets. That has been
 * reported, and that the key is missing needs no message then. */
int lm_config_is_missing(const struct lm_config_reader *r, const char *section, const char *name);

/* 1 when the entry gives a number as an expression. */
int lm_config_is_computed(const struct lm_key *key, const struct lm_ini_entry *e);

/* Defines the names that expressions may use, in any order of the file, and stores the values of numbers that are given
 * as expressions. LM_FAILED: no memory. */
int lm_config_define_names(struct lm_config_reader *r);

/* Checks the sides of the domain, and sets what they do to fields where the file does not say. */
void lm_config_check_sides(struct lm_config_reader *r);
/* Checks the densities beyond inflow sides at t = 0. LM_FAILED: no memory. */
int lm_config_check_inflow(struct lm_config_reader *r);
/* Chooses by the mean flow of the start in the last cells what absorbing sides and inflow sides do to fields, where the
 * file does not say it. An absorbing side becomes radiating where plasma flows out at a thermal speed or more, there is
 * no layer before it, and the two other sides are periodic. An inflow side where plasma flows in more slowly than fast
 * waves becomes radiating, or open if it has such a layer or such sides; beside radiating sides it stays as it is,
 * because their strips end at what comes in. LM_FAILED: no memory. */
int lm_config_choose_fields(struct lm_config_reader *r);

/* Checks the sides and bounds of background fields. The second function needs the constants and checks what flows in by
 * their sides in the first step. LM_FAILED: no memory. */
void lm_config_check_backgrounds(struct lm_config_reader *r);
int lm_config_check_background_inflow(struct lm_config_reader *r);

/* Checks the gas of each species, reads its stopping table, and checks the keys of collisions. LM_FAILED: no memory. */
int lm_config_check_gas(struct lm_config_reader *r);

/* Makes the path in `key` of an item of a named section absolute, so that the echo in another directory names the same
 * file. `line` is the line that sets the key. Returns 1 where a problem was reported. */
int lm_config_resolve_path(struct lm_config_reader *r, const char *section, const char *key, void *item, int line);
/* Checks a source of ions, and finds the species and the gas that it names. */
void lm_config_check_ionisation(struct lm_config_reader *r, const struct lm_scope *scope);
/* The boundary condition of a background field at a side with `auto`. */
int lm_background_side_of(int boundary);

/* 1 for nx, ny, lx, ly, dx, dy and dt, which every configuration defines. */
int lm_config_has_given(const char *name);

/* Replaces each [data.NAME] that has `meshes` by one section for each mesh that a value of the configuration uses:
 * [data.NAME_B_z] with a dataset, or [data.NAME] with a magnetic_field for NAME_az. One that nothing uses stays. The
 * entries must have been applied. LM_FAILED: no memory. */
int lm_config_expand_data(struct lm_config_reader *r);

/* Defines the names of arrays of files, and reads them once the sizes are known. LM_FAILED: no memory. */
void lm_config_name_data(struct lm_config_reader *r);
int lm_config_read_data(struct lm_config_reader *r);
void lm_config_free_data(struct lm_config *config);

/* Defines the functions of spectra, and finds their waves once the sizes are known. LM_FAILED: no memory. */
int lm_config_name_spectra(struct lm_config_reader *r);
int lm_config_make_spectra(struct lm_config_reader *r);
void lm_config_free_spectra(struct lm_config *config);

/* Sets particles_per_cell of species that have mean_particles_per_cell. LM_FAILED: no memory. */
int lm_config_resolve_particles(struct lm_config_reader *r);

/* Reads the lists of outputs, distributions, probes and tracks, and finds the cells of regions and the points. */
void lm_config_check_outputs(struct lm_config_reader *r);
void lm_config_free_probes(struct lm_config *config);

/* Adds the entropy of electrons whose pressure is evolved, as the last background field. */
void lm_config_add_electrons(struct lm_config_reader *r);

/* Checks the points and paths of bodies. The second function finds the cells of each body, if the configuration has no
 * other problem. LM_FAILED: no memory. */
void lm_config_check_points(struct lm_config_reader *r);
int lm_config_check_cells(struct lm_config_reader *r);

/* Checks required keys and combinations of keys, derives values from other keys, and evaluates the constants and the
 * expressions on the grid. LM_FAILED: no memory. */
int lm_config_check(struct lm_config_reader *r);

#endif
