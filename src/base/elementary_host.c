#include "base/elementary_host.h"

#include "larmor/physics/numerics/elementary_expr.h"

double lm_host_sin(double x)
{
    return lm_sin(x);
}

double lm_host_cos(double x)
{
    return lm_cos(x);
}

double lm_host_tan(double x)
{
    return lm_tan(x);
}

double lm_host_asin(double x)
{
    return lm_asin(x);
}

double lm_host_acos(double x)
{
    return lm_acos(x);
}

double lm_host_atan(double x)
{
    return lm_atan(x);
}

double lm_host_atan2(double y, double x)
{
    return lm_atan2(y, x);
}

double lm_host_sinh(double x)
{
    return lm_sinh(x);
}

double lm_host_cosh(double x)
{
    return lm_cosh(x);
}

double lm_host_tanh(double x)
{
    return lm_tanh(x);
}

double lm_host_asinh(double x)
{
    return lm_asinh(x);
}

double lm_host_acosh(double x)
{
    return lm_acosh(x);
}

double lm_host_atanh(double x)
{
    return lm_atanh(x);
}

double lm_host_exp(double x)
{
    return lm_exp(x);
}

double lm_host_log(double x)
{
    return lm_log(x);
}

double lm_host_log2(double x)
{
    return lm_log2(x);
}

double lm_host_log10(double x)
{
    return lm_log10(x);
}

double lm_host_pow(double a, double b)
{
    return lm_power(a, b);
}
