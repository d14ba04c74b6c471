// What Swift cannot call on Linux by itself, or not in a form that the allocation checker accepts.
//
// Conventions: prefix `cl_`; fixed-width types; functions that can fail return 0 or a positive errno; the caller owns
// all memory; no policy, no global state, no logging.
#ifndef CLINUXSHIM_H
#define CLINUXSHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include("CLinuxShimSocket.h")
#include "CLinuxShimSocket.h"
#endif

/// A promise made by this header, trusted by the Swift compiler: the function neither allocates nor takes a user-space
/// lock. It may wait in the kernel where its description says so. Plain Glibc calls are refused inside a checked tick.
#define CL_RT_SAFE __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

// MARK: Clock and sleep

/// CLOCK_MONOTONIC in nanoseconds. Never waits.
CL_RT_SAFE int64_t cl_now_ns(void);

/// clock_nanosleep(2) to an absolute CLOCK_MONOTONIC time, retrying EINTR. Waits.
CL_RT_SAFE int cl_sleep_until(int64_t deadline_ns);

// MARK: Futex (a raw system call: glibc has no wrapper)

/// Sleeps while `*word == expected`, until woken or until the absolute CLOCK_MONOTONIC deadline. Waits.
/// Returns 0 (woken), EAGAIN (the word differed), EINTR or ETIMEDOUT.
CL_RT_SAFE int cl_futex_wait_until(const void *word, uint32_t expected, int64_t deadline_ns);

/// Wakes at most one sleeper of `word`. Never waits.
CL_RT_SAFE int cl_futex_wake(const void *word);

// MARK: Threads (pthread attributes, cpu_set_t macros and sched parameters are awkward or impossible to import)

/// Starts a joinable thread with a stack of `stack_bytes` (rounded up to a page, at least PTHREAD_STACK_MIN).
/// The handle is a pthread_t.
int cl_thread_start(uint64_t *handle, size_t stack_bytes, void *(*entry)(void *), void *context);

/// pthread_join(3). Waits.
int cl_thread_join(uint64_t handle);

/// Forgets a thread that could not be joined, so that its stack is freed if it ever ends.
int cl_thread_detach(uint64_t handle);

/// Names the calling thread; at most 15 bytes are kept.
int cl_thread_set_name(const char *name);

/// The kernel's id of the calling thread, as in /proc/self/task.
int32_t cl_thread_id(void);

/// Touches `bytes` below the current stack pointer, so that the pages exist before they are needed.
void cl_stack_prefault(size_t bytes);

// MARK: Scheduling

/// Puts the calling thread under SCHED_FIFO at this priority.
int cl_sched_set_fifo(int32_t priority);

/// Reads the calling thread's policy (SCHED_OTHER 0, SCHED_FIFO 1, SCHED_RR 2, ...) and priority back.
int cl_sched_get(int32_t *policy, int32_t *priority);

/// Binds the calling thread to one CPU, counted from 0.
int cl_affinity_set(int32_t cpu);

/// The only CPU the calling thread may run on, or -1 when there are several (CPU_COUNT is a macro).
int32_t cl_affinity_single(void);

/// The highest-numbered CPU the calling thread may run on, or -1.
int32_t cl_affinity_last(void);

/// prctl(PR_SET_TIMERSLACK) for the calling thread (prctl is variadic).
int cl_timer_slack_set(uint64_t nanoseconds);

/// The soft RLIMIT_RTPRIO of the process, or -1 when it is unlimited.
int64_t cl_rtprio_limit(void);

// MARK: Memory

/// mlockall(MCL_CURRENT | MCL_FUTURE).
int cl_memory_lock(void);

/// adjtimex(2): whether the kernel's wall clock follows another clock. In C because Swift's Glibc leaves sys/timex.h out.
int cl_wall_clock_synchronised(bool *is_synchronised);

/// munlockall().
int cl_memory_unlock(void);

/// pthread_setattr_default_np(3): the stack size of every later thread that does not ask for its own.
int cl_default_stack_size_set(size_t bytes);

/// mallopt(3) for a locked process: at most `arenas` arenas, memory above `threshold_bytes` in mappings of its own, and
/// that much kept at the heap's top. Returns 0 or EINVAL. (mallopt's names are macros.)
int cl_malloc_configure(int32_t arenas, int32_t threshold_bytes);

/// Gives the heap's unused pages back before they are locked. (malloc_trim is not in Swift's Glibc module map.)
void cl_malloc_trim(void);

/// memfd_create(2): a file in memory without a name, closed on exec. (Not in Swift's Glibc module map.)
int cl_memory_file_create(const char *name, int32_t *file);

/// fallocate(2), punching a hole: the pages go back to the system, the file keeps its size. Returns 0 or errno.
int cl_memory_file_release(int32_t file, int64_t offset, int64_t count);

/// Page faults and involuntary context switches of the calling thread since its start (getrusage RUSAGE_THREAD).
typedef struct {
    int64_t minor_faults;
    int64_t major_faults;
    int64_t involuntary_switches;
} cl_thread_usage;

/// Fills `usage` for the calling thread.
CL_RT_SAFE int cl_thread_usage_get(cl_thread_usage *usage);

#endif
