// Tells ThreadSanitizer of the locks that the kernel hands over. Preloaded by `make sanitize` only.
//
// Swift's Mutex is a futex with priority inheritance: when two threads meet at it, FUTEX_UNLOCK_PI gives it from one to the
// other inside the kernel, by a call from a library that is not instrumented. ThreadSanitizer sees no handing over, and takes what
// the lock protects for a race. The library can also take a lock without a call, while it waits for a short time in the
// function _lockSlow. Source: futex(2); sanitizer/tsan_interface.h; swiftlang/swift, stdlib/public/Synchronization/Mutex.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    long operation = number == SYS_futex ? a[1] & FUTEX_CMD_MASK : -1;
    if (operation == FUTEX_UNLOCK_PI && __tsan_release) __tsan_release((void *)a[0]);
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if ((operation == FUTEX_LOCK_PI || operation == FUTEX_TRYLOCK_PI) && result == 0 && __tsan_acquire)
        __tsan_acquire((void *)a[0]);
    return result;
}

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
// Synchronization._MutexHandle._lockSlow(UInt32)
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"

SWIFT void lock_slow(unsigned thread, SELF void *lock) __asm__(LOCK_SLOW);

SWIFT void lock_slow(unsigned thread, SELF void *lock) {
    static SWIFT void (*next)(unsigned, SELF void *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, LOCK_SLOW);
    next(thread, lock);
    if (__tsan_acquire) __tsan_acquire(lock);
}
