/* The same tests in single precision. */
#define LM_PRECISION 32
#include "test_pass.c"
