/* What signals do to a run.
 *
 * SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU ask for a stop. While a run is being prepared there is nothing
 * to keep: the program says so and dies of the signal at once. Later it is only noted (base/stop.h), and the run ends
 * in a checkpoint. A second SIGINT or SIGTERM, a second or more after the first of them, ends the run at once. The
 * pause is there because launchers such as timeout send a signal twice in a row. The other signals do not count as a
 * second one: batch systems send SIGUSR1 or SIGXCPU first and SIGTERM later, while a checkpoint may be under way.
 *
 * SIGINT and SIGHUP that are ignored at the start (`&` in scripts, nohup) stay ignored. SIGPIPE and SIGXFSZ are
 * ignored, so that a reader that is gone and a limit of file sizes become errors of writing. */
#ifndef LARMOR_RUN_SIGNALS_H
#define LARMOR_RUN_SIGNALS_H

/* From now on a signal ends the program at once, with a message that nothing has been written. It clears earlier
 * requests to stop. */
void lm_signals_begin(void);

/* From now on a signal is a request to stop. */
void lm_signals_keep(void);

/* What the message says when a second signal ends the run at once: where to go on. The text is copied, up to
 * LM_MAX_PATH bytes. */
void lm_signals_tell(const char *text);

/* Puts back what there was before lm_signals_begin, but for SIGPIPE and SIGXFSZ: the program's last message is still to
 * come, and must not end it. */
void lm_signals_end(void);

/* "interrupted (SIGINT)", "terminated (SIGTERM)", "SIGUSR1", ...; LM_STOP_TIME: the wall-time limit. */
const char *lm_signals_name(int number);

#endif
