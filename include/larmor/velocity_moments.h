/* Moments of the velocity of a species: which there are, and a list of those that are wanted. */
#ifndef LARMOR_VELOCITY_MOMENTS_H
#define LARMOR_VELOCITY_MOMENTS_H

/* n; n <v_i>; n <v_i v_j> for xx, yy, zz, xy, xz, yz; n <v_i v^2>. In n0 v_A^p. */
enum lm_moment {
    LM_MOMENT_1,
    LM_MOMENT_V,
    LM_MOMENT_VV = LM_MOMENT_V + 3,
    LM_MOMENT_VVV = LM_MOMENT_VV + 6,
    LM_MOMENT_COUNT = LM_MOMENT_VVV + 3
};

/* The power p of the velocity in a moment. */
static inline int lm_moment_power(int moment)
{
    return moment < LM_MOMENT_V ? 0 : moment < LM_MOMENT_VV ? 1 : moment < LM_MOMENT_VVV ? 2 : 3;
}

/* The sums of a moment are integers, so that the order of the particles has no effect: multiples of 2^-36 of
 * 2^(p speed_exponent). So a cell may hold 2^27 particles at the bound, and 2^26 times as many at a tenth of it in the
 * third moments. */
enum { LM_MOMENT_BITS = 36 };

struct lm_moment_list {
    int count;
    int moment[LM_MOMENT_COUNT]; /* enum lm_moment, `count` of them */
    int speed_exponent;          /* 2^speed_exponent >= every |v| */
};

#endif
