/* larmor.messages in the output directory: what a run says on standard error and does not repeat elsewhere while it
 * goes on or when it fails. The file has the warnings, the settings that a restart changes, and the message of a
 * failure, in the same words. A run that says none of this has no such file. */
#ifndef LARMOR_RUN_MESSAGES_H
#define LARMOR_RUN_MESSAGES_H

struct lm_run_state;

/* Prints warnings and changed settings on stderr, unless the run is silent, and writes them into the file. The file of
 * an earlier run is removed. A file that cannot be written is no failure, because stderr has the text. */
void lm_messages_begin(const struct lm_run_state *r);

/* Writes the file anew, with the warnings that the run has given since. */
void lm_messages_update(const struct lm_run_state *r);

/* Adds lm_error() to the file if `status` is LM_FAILED and the directory belongs to this run. Returns `status`, and
 * leaves lm_error() as it is. */
int lm_messages_end(const struct lm_run_state *r, int status);

#endif
