// Functions of libm for the controller core, in a form that Swift's allocation checker accepts.
//
// The checker does not accept Swift's own Double.squareRoot(), sin and similar functions, because
// they do not declare that they take no lock (`@_noLocks`). The functions in this header declare
// this. Their bodies are compiler builtins, so the header needs no libc, and an Embedded Swift
// build can also use it. The compiler replaces a builtin by an instruction or by a call of libm,
// which Package.swift links.
#ifndef CMATHSHIM_H
#define CMATHSHIM_H

/// Declares that a function neither allocates memory nor takes a lock in user space. The Swift compiler trusts this
/// declaration.
#define CM_RT_SAFE __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation"), always_inline, const))

CM_RT_SAFE static inline double cm_sqrt(double x) { return __builtin_sqrt(x); }
CM_RT_SAFE static inline double cm_sin(double x) { return __builtin_sin(x); }
CM_RT_SAFE static inline double cm_cos(double x) { return __builtin_cos(x); }

/// Computes sine and cosine of one angle, rad, in about half the time of two separate calls.
struct cm_circle { double sin, cos; };
CM_RT_SAFE static inline struct cm_circle cm_sincos(double x) {
    struct cm_circle result;
    __builtin_sincos(x, &result.sin, &result.cos);
    return result;
}

CM_RT_SAFE static inline double cm_asin(double x) { return __builtin_asin(x); }
CM_RT_SAFE static inline double cm_acos(double x) { return __builtin_acos(x); }
CM_RT_SAFE static inline double cm_atan2(double y, double x) { return __builtin_atan2(y, x); }
CM_RT_SAFE static inline double cm_exp(double x) { return __builtin_exp(x); }
CM_RT_SAFE static inline double cm_log(double x) { return __builtin_log(x); }
CM_RT_SAFE static inline double cm_floor(double x) { return __builtin_floor(x); }

#endif
