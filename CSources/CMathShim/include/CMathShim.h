// libm for the core, in a form that the allocation checker accepts.
//
// Swift's own Double.squareRoot(), sin and friends are opaque to `@_noLocks`; these declarations carry the promise.
// The bodies are compiler builtins, so the header needs no libc and also serves an Embedded Swift build; what does
// not become an instruction is a call into libm (linked by Package.swift).
#ifndef CMATHSHIM_H
#define CMATHSHIM_H

/// A promise made by this header, trusted by the Swift compiler: no allocation and no user-space lock.
#define CM_RT_SAFE __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation"), always_inline, const))

CM_RT_SAFE static inline double cm_sqrt(double x) { return __builtin_sqrt(x); }
CM_RT_SAFE static inline double cm_sin(double x) { return __builtin_sin(x); }
CM_RT_SAFE static inline double cm_cos(double x) { return __builtin_cos(x); }

/// Sine and cosine of one angle, for half the price of both.
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
