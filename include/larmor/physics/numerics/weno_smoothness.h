/* The part of larmor/physics/numerics/weno.h that exists in double and in single precision. That header includes this
 * file once for each precision, with the macros LM_SMOOTH for the type, LM_SMOOTH_FMA for its fused multiply-add, and
 * LM_SMOOTH_NAME for the names of the functions. */

/* The smoothness indicator of a polynomial from its Legendre coefficients, up to factors (Balsara et al. 2016): the
 * arguments are a1 + a3/10, 2 (a2 + 123/455 a4), 6 a3, 24 a4. */
LM_HD LM_SMOOTH LM_SMOOTH_NAME(lm_weno_squares)(int r, LM_SMOOTH a1, LM_SMOOTH a2, LM_SMOOTH a3, LM_SMOOTH a4)
{
    LM_SMOOTH sum = (LM_SMOOTH)(13.0 / 12) * (a2 * a2);
    if (r > 3)
        sum = LM_SMOOTH_FMA((LM_SMOOTH)(781.0 / 720), a3 * a3, sum);
    if (r > 4)
        sum = LM_SMOOTH_FMA((LM_SMOOTH)(1421461.0 / 1310400), a4 * a4, sum);
    return LM_SMOOTH_FMA(a1, a1, sum);
}

/* The coefficients b1, b2 of the four cubics from those of the three parabolas, a1, a2. t: the third differences, from
 * that of the first cubic on. */
LM_HD void LM_SMOOTH_NAME(lm_weno_cubics)(const LM_SMOOTH *a1, const LM_SMOOTH *a2, const LM_SMOOTH *t, LM_SMOOTH *b1,
                                          LM_SMOOTH *b2)
{
    b1[0] = LM_SMOOTH_FMA((LM_SMOOTH)(1.0 / 3), t[0], a1[0]);
    b1[1] = LM_SMOOTH_FMA((LM_SMOOTH)(-1.0 / 6), t[1], a1[1]);
    b1[2] = LM_SMOOTH_FMA((LM_SMOOTH)(-1.0 / 6), t[2], a1[1]);
    b1[3] = LM_SMOOTH_FMA((LM_SMOOTH)(1.0 / 3), t[3], a1[2]);
    b2[0] = a2[0] + t[0];
    b2[1] = a2[1];
    b2[2] = a2[1];
    b2[3] = a2[2] - t[3];
}

/* The indicators of the five quartics, from the coefficients of the cubics and the fourth differences. */
LM_HD void LM_SMOOTH_NAME(lm_weno_quartics)(const LM_SMOOTH *b1, const LM_SMOOTH *b2, const LM_SMOOTH *t,
                                            const LM_SMOOTH *f, LM_SMOOTH *beta)
{
    /* The cubic from which each quartic is made, and what a fourth difference adds to its coefficients. */
    const int from[5] = {0, 1, 2, 2, 3};
    const LM_SMOOTH c1[5] = {(LM_SMOOTH)0.25, (LM_SMOOTH)(-1.0 / 12), (LM_SMOOTH)(1.0 / 12), (LM_SMOOTH)(1.0 / 12),
                             (LM_SMOOTH)-0.25};
    const LM_SMOOTH c2[5] = {(LM_SMOOTH)(119.0 / 130), (LM_SMOOTH)(-11.0 / 130), (LM_SMOOTH)(-11.0 / 130),
                             (LM_SMOOTH)(-11.0 / 130), (LM_SMOOTH)(119.0 / 130)};
    const LM_SMOOTH c3[5] = {(LM_SMOOTH)1.5, (LM_SMOOTH)0.5, (LM_SMOOTH)-0.5, (LM_SMOOTH)-0.5, (LM_SMOOTH)-1.5};
    LM_UNROLL
    for (int k = 0; k < 5; k++)
        beta[k] = LM_SMOOTH_NAME(lm_weno_squares)(5, LM_SMOOTH_FMA(c1[k], f[k], b1[from[k]]),
                                                  LM_SMOOTH_FMA(c2[k], f[k], b2[from[k]]),
                                                  LM_SMOOTH_FMA(c3[k], f[k], t[from[k]]), f[k]);
}

/* The indicators beta[0 .. r-1] of the polynomials, from the 2r-2 first differences of a window. */
LM_HD void LM_SMOOTH_NAME(lm_weno_smoothness)(int r, const LM_SMOOTH *d, LM_SMOOTH *beta)
{
    LM_SMOOTH s[LM_WENO_WINDOW - 2], t[LM_WENO_WINDOW - 3], f[LM_WENO_WINDOW - 4], b1[4], b2[4];
    if (r == 2) {
        beta[0] = d[0] * d[0];
        beta[1] = d[1] * d[1];
        return;
    }
    LM_UNROLL
    for (int i = 0; i < 2 * r - 3; i++)
        s[i] = d[i + 1] - d[i];
    const LM_SMOOTH *a2 = s + r - 3;
    const LM_SMOOTH a1[3] = {LM_SMOOTH_FMA((LM_SMOOTH)0.5, a2[0], d[r - 2]),
                             LM_SMOOTH_FMA((LM_SMOOTH)-0.5, a2[1], d[r - 1]),
                             LM_SMOOTH_FMA((LM_SMOOTH)-0.5, a2[2], d[r - 1])};
    if (r == 3) {
        LM_UNROLL
        for (int k = 0; k < 3; k++)
            beta[k] = LM_SMOOTH_NAME(lm_weno_squares)(3, a1[k], a2[k], 0, 0);
        return;
    }
    LM_UNROLL
    for (int i = 0; i < 2 * r - 4; i++)
        t[i] = s[i + 1] - s[i];
    LM_SMOOTH_NAME(lm_weno_cubics)(a1, a2, t + r - 4, b1, b2);
    if (r == 4) {
        LM_UNROLL
        for (int k = 0; k < 4; k++)
            beta[k] = LM_SMOOTH_NAME(lm_weno_squares)(4, b1[k], b2[k], t[k], 0);
        return;
    }
    LM_UNROLL
    for (int i = 0; i < 2 * r - 5; i++)
        f[i] = t[i + 1] - t[i];
    LM_SMOOTH_NAME(lm_weno_quartics)(b1, b2, t + 1, f, beta);
}

/* others[k] is the product of all q but q[k]. */
LM_HD void LM_SMOOTH_NAME(lm_weno_others)(int r, const LM_SMOOTH *q, LM_SMOOTH *others)
{
    LM_SMOOTH before[LM_WENO_MOST], behind[LM_WENO_MOST];
    before[0] = 1;
    behind[r - 1] = 1;
    LM_UNROLL
    for (int k = 1; k < r; k++) {
        before[k] = before[k - 1] * q[k - 1];
        behind[r - 1 - k] = behind[r - k] * q[r - k];
    }
    LM_UNROLL
    for (int k = 0; k < r; k++)
        others[k] = before[k] * behind[k];
}

/* tau of the Z weights: a difference of indicators that is small where the field is smooth. */
LM_HD LM_SMOOTH LM_SMOOTH_NAME(lm_weno_tau)(int r, const LM_SMOOTH *beta)
{
    LM_SMOOTH tau;
    if (r < 4)
        tau = beta[0] - beta[r - 1];
    else if (r == 4)
        tau = LM_SMOOTH_FMA(3, beta[1] - beta[2], beta[0] - beta[3]);
    else
        tau = LM_SMOOTH_FMA(-6, beta[2], LM_SMOOTH_FMA(2, beta[1] + beta[3], beta[0] + beta[4]));
    return tau;
}

#undef LM_SMOOTH
#undef LM_SMOOTH_FMA
#undef LM_SMOOTH_NAME
