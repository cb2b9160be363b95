/* Where the files of this process come from. Every HDF5 file that base/h5.h creates has it as attributes of its root:
 * `created`, `machine`, `commit`, `command` and `settings`, as far as they are known. */
#ifndef LARMOR_BASE_PROVENANCE_H
#define LARMOR_BASE_PROVENANCE_H

enum lm_provenance {
    LM_COMMIT,   /* of the source, as git describes it */
    LM_COMMAND,  /* the command line */
    LM_SETTINGS, /* run.ini */
    LM_PROVENANCES
};

/* Keeps a copy of the text; NULL: it is not known (again). Where there is no memory for the copy it stays unknown. */
void lm_provenance_set(enum lm_provenance what, const char *text);
void lm_provenance_set_command(int argc, char **argv);

/* The text, or NULL. */
const char *lm_provenance_get(enum lm_provenance what);

#endif
