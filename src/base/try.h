/* Early returns in functions that have nothing to free. */
#ifndef LARMOR_BASE_TRY_H
#define LARMOR_BASE_TRY_H

/* Evaluates an expression of enum lm_status. Anything but LM_OK is returned from the function around it. */
#define LM_TRY(expression)                                                                                             \
    do {                                                                                                               \
        const int lm_try_status = (expression);                                                                        \
        if (lm_try_status)                                                                                             \
            return lm_try_status;                                                                                      \
    } while (0)

#endif
