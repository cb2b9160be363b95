/* What a call of the library must neither depend on nor change in the program that has loaded it: private to
 * src/library. */
#ifndef LARMOR_LIBRARY_HOST_H
#define LARMOR_LIBRARY_HOST_H

#include <locale.h>

#include "base/h5.h"

/* Numbers are read and written as in the program larmor, with a dot, whatever the caller has told setlocale. Without
 * memory for a locale the caller's one stays. */
static inline locale_t lm_library_locale(void)
{
    static locale_t plain;
    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return uselocale(plain);
}

static inline void lm_library_locale_back(const locale_t *callers)
{
    uselocale(*callers);
}

/* The first line of each function of larmor.h that can fail, because these read and write numbers, at least in their
 * messages. The caller's locale is back at each return. */
#define LM_LIBRARY_CALL()                                                                                              \
    __attribute__((cleanup(lm_library_locale_back))) const locale_t callers_locale = lm_library_locale()

/* The same for a function that reads or writes files: `status` becomes that of `call`. HDF5, which may be the caller's
 * as well, prints errors as the caller wants again after the call. */
#define LM_LIBRARY_FILES(status, call)                                                                                 \
    do {                                                                                                               \
        H5E_BEGIN_TRY;                                                                                                 \
        (status) = (call);                                                                                             \
        H5E_END_TRY;                                                                                                   \
    } while (0)

#endif
