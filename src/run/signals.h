/* What signals do to a run.
 *
 * SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU are requests to stop. While a run is prepared, there is nothing
 * to keep: the program says so, and the signal ends it at once. Later the request is recorded (base/stop.h), and the
 * run ends with a checkpoint. A second SIGINT or SIGTERM, at least a second after the first one, ends the run at once.
 * The pause is needed because launchers such as timeout send a signal twice in a row. The other signals do not count as
 * a second signal: batch systems send SIGUSR1 or SIGXCPU first and SIGTERM later, when a checkpoint may be under way.
 *
 * SIGINT and SIGHUP stay ignored if they are ignored at the start (`&` in scripts, nohup). SIGPIPE and SIGXFSZ are
 * ignored, so that a closed pipe and a limit of file sizes become write errors. */
#ifndef LARMOR_RUN_SIGNALS_H
#define LARMOR_RUN_SIGNALS_H

/* Installs the handlers and clears earlier requests. From now on a signal ends the program at once, with the message
 * that nothing has been written. */
void lm_signals_begin(void);

/* From now on a signal is a request to stop. */
void lm_signals_keep(void);

/* Sets the end of the message for a second signal: from which file the run can go on. The text is copied, up to
 * LM_MAX_PATH bytes. */
void lm_signals_tell(const char *text);

/* Restores the handlers from before lm_signals_begin, except those of SIGPIPE and SIGXFSZ: the last message of the
 * program is still to come, and writing it must not end the program. */
void lm_signals_end(void);

/* "interrupted (SIGINT)", "terminated (SIGTERM)", "SIGUSR1", ...; LM_STOP_TIME: the wall-time limit. */
const char *lm_signals_name(int number);

#endif
