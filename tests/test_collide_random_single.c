/* The same for particles in single precision. */
#define LM_PRECISION 32
#include "test_collide_random.c"
