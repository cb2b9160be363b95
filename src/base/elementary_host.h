/* The elementary functions of larmor/physics/numerics/elementary.h and elementary_expr.h as C functions, whose
 * addresses muParser takes. */
#ifndef LARMOR_BASE_ELEMENTARY_HOST_H
#define LARMOR_BASE_ELEMENTARY_HOST_H

double lm_host_sin(double x);
double lm_host_cos(double x);
double lm_host_tan(double x);
double lm_host_asin(double x);
double lm_host_acos(double x);
double lm_host_atan(double x);
double lm_host_atan2(double y, double x);
double lm_host_sinh(double x);
double lm_host_cosh(double x);
double lm_host_tanh(double x);
double lm_host_asinh(double x);
double lm_host_acosh(double x);
double lm_host_atanh(double x);
double lm_host_exp(double x);
double lm_host_log(double x);
double lm_host_log2(double x);
double lm_host_log10(double x);

double lm_host_pow(double a, double b);

#endif
