/* Completion of commands, options and keys in a shell. */
#ifndef LARMOR_RUN_COMPLETION_H
#define LARMOR_RUN_COMPLETION_H

#include <getopt.h>
#include <stdio.h>

/* A command and its options, which end with one without a name. */
struct lm_command_words {
    const char *name;
    const struct option *options;
};

/* Prints a script for bash, which zsh understands after bashcompinit. */
void lm_completion_print(FILE *out, const struct lm_command_words *commands, size_t count);

#endif
