/* The lock on an output directory: only one run at a time writes there.
 *
 * It is a lock of the kernel (fcntl, F_OFD_SETLK) on the file larmor.lock in the directory. It ends with the process,
 * however the process ends, so a lock file of a dead run stops nobody. This kind of lock also works between machines
 * that share the directory by NFS; flock does so in some versions only. Unlike the older locks of fcntl, it does not
 * end when a library closes another descriptor of the same file. On a file system without locks the run goes on with a
 * warning. The file names the process, the host and the start of the run that holds the lock. */
#ifndef LARMOR_OUTPUT_LOCK_H
#define LARMOR_OUTPUT_LOCK_H

#define LM_LOCK_NAME "larmor.lock"

struct lm_lock {
    int file;   /* descriptor; negative: not held */
    int made;   /* 1: this run has written the file and removes it at the end */
    int silent; /* 1: no warning where the file system has no locks */
    char directory[1024];
};

#define LM_LOCK_NONE                                                                                                   \
    {                                                                                                                  \
        .file = -1                                                                                                     \
    }

/* Takes the lock if the directory already has a lock file. Changes nothing in the directory. LM_BAD_INPUT: another
 * process holds the lock; the message says which one. */
int lm_lock_existing(struct lm_lock *lock, const char *directory);

/* Takes the lock, if this process does not hold it yet, and writes the lock file. The directory must exist.
 * LM_BAD_INPUT: another process holds the lock. LM_FAILED: the file cannot be written. */
int lm_lock_take(struct lm_lock *lock, const char *directory);

/* Removes the file, if this run has written it, and releases the lock. */
void lm_lock_release(struct lm_lock *lock);

#endif
