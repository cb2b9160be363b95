/* The lock on an output directory: one run at a time writes there.
 *
 * It is a lock of the kernel (fcntl, F_OFD_SETLK) on the file larmor.lock in the directory, so it ends with the process
 * however that dies, and a file that a dead run has left is no obstacle. Of the kinds of locks this one was taken
 * because it also holds between machines that share the directory by NFS, where flock would do so on some versions
 * only, and because, unlike the older locks of fcntl, it does not vanish when some library closes another descriptor of
 * the same file. Where a file system has no locks the run goes on without, with a warning. The file says who holds the
 * lock: process, host, since when. */
#ifndef LARMOR_OUTPUT_LOCK_H
#define LARMOR_OUTPUT_LOCK_H

#define LM_LOCK_NAME "larmor.lock"

struct lm_lock {
    int file; /* descriptor; negative: not held */
    int made; /* this run has written the file, and removes it at the end */
    char directory[1024];
};

#define LM_LOCK_NONE                                                                                                   \
    {                                                                                                                  \
        .file = -1                                                                                                     \
    }

/* Takes the lock if the directory has a lock file already; changes nothing there. LM_BAD_INPUT: another process holds
 * it; lm_error() says which. */
int lm_lock_existing(struct lm_lock *lock, const char *directory);

/* Takes the lock, if it is not held, and writes who holds it. The directory is there. LM_BAD_INPUT: another process
 * holds it. LM_FAILED: the file cannot be written. */
int lm_lock_take(struct lm_lock *lock, const char *directory);

/* Removes the file, if this run has made it, and gives the lock back. */
void lm_lock_release(struct lm_lock *lock);

#endif
