// Linux functions that Swift cannot call directly, or that Swift's allocation checker does not accept.
//
// Conventions: All names begin with `cl_`, and all integers have a fixed width. A function that can fail returns 0 or a
// positive errno. The caller owns all memory. The functions make no decisions, keep no global state, and write no log.
#ifndef CLINUXSHIM_H
#define CLINUXSHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include("CLinuxShimSocket.h")
#include "CLinuxShimSocket.h"
#endif

/// Declares that a function neither allocates memory nor takes a lock in user space. The Swift compiler trusts this
/// declaration. The function can wait in the kernel if its comment says so. In a tick of the loop, which the compiler
/// checks, functions without this attribute, such as those of Glibc, are errors.
#define CL_RT_SAFE __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

// MARK: Clock and sleep

/// Returns the time on CLOCK_MONOTONIC, ns. The function never waits.
CL_RT_SAFE int64_t cl_now_ns(void);

/// Waits until an absolute CLOCK_MONOTONIC time with clock_nanosleep(2), even if signals arrive (EINTR).
CL_RT_SAFE int cl_sleep_until(int64_t deadline_ns);

// MARK: Futex (a raw system call: glibc has no wrapper)

/// Waits while `*word == expected`, until cl_futex_wake or until the absolute CLOCK_MONOTONIC deadline. Returns 0 after
/// a wake, EAGAIN if the word differs from `expected`, EINTR or ETIMEDOUT.
CL_RT_SAFE int cl_futex_wait_until(const void *word, uint32_t expected, int64_t deadline_ns);

/// Wakes at most one thread that waits for `word`. The function never waits.
CL_RT_SAFE int cl_futex_wake(const void *word);

// MARK: Threads (pthread attributes, cpu_set_t macros and sched parameters are awkward or impossible to import)

/// Starts a joinable thread with a stack of `stack_bytes`, rounded up to a page, but at least PTHREAD_STACK_MIN. The
/// handle is a pthread_t.
int cl_thread_start(uint64_t *handle, size_t stack_bytes, void *(*entry)(void *), void *context);

/// Waits for the end of a thread: pthread_join(3).
int cl_thread_join(uint64_t handle);

/// Detaches a thread that could not be joined, so that its stack is freed if the thread ends later.
int cl_thread_detach(uint64_t handle);

/// Sets the name of the calling thread; a longer name is cut to 15 bytes.
int cl_thread_set_name(const char *name);

/// Returns the kernel's id of the calling thread, as in /proc/self/task.
int32_t cl_thread_id(void);

/// Writes to each page in `bytes` below the stack pointer, so that later use of the stack causes no page fault.
void cl_stack_prefault(size_t bytes);

// MARK: Scheduling

/// Sets SCHED_FIFO with this priority for the calling thread.
int cl_sched_set_fifo(int32_t priority);

/// Reads the calling thread's policy (SCHED_OTHER 0, SCHED_FIFO 1, SCHED_RR 2, ...) and priority.
int cl_sched_get(int32_t *policy, int32_t *priority);

/// Binds the calling thread to one CPU, counted from 0.
int cl_affinity_set(int32_t cpu);

/// Returns the only CPU on which the calling thread may run, or -1 if there are several. The function is in C, because
/// CPU_COUNT is a macro.
int32_t cl_affinity_single(void);

/// Returns the highest number of the CPUs on which the calling thread may run, or -1 on an error.
int32_t cl_affinity_last(void);

/// Sets the timer slack of the calling thread with prctl(PR_SET_TIMERSLACK). The function is in C, because prctl is
/// variadic.
int cl_timer_slack_set(uint64_t nanoseconds);

/// Returns the soft RLIMIT_RTPRIO of the process, or -1 if the limit is infinite.
int64_t cl_rtprio_limit(void);

// MARK: Memory

/// Locks all present and future memory: mlockall(MCL_CURRENT | MCL_FUTURE).
int cl_memory_lock(void);

/// Reads with adjtimex(2) whether the wall clock is synchronized, for example by NTP. The function is in C, because
/// Swift's Glibc module does not contain sys/timex.h.
int cl_wall_clock_synchronised(bool *is_synchronised);

/// Sets the default stack size of all threads that start later, with pthread_setattr_default_np(3).
int cl_default_stack_size_set(size_t bytes);

/// Configures malloc with mallopt(3) for a process with locked memory: at most `arenas` arenas; blocks above
/// `threshold_bytes` in separate mappings; at most `threshold_bytes` of free memory at the heap's top. Returns 0 or
/// EINVAL. The function is in C, because mallopt's constants are macros.
int cl_malloc_configure(int32_t arenas, int32_t threshold_bytes);

/// Returns the heap's unused pages to the kernel, so that they are not locked later. The function is in C, because
/// malloc_trim is not in Swift's Glibc module.
void cl_malloc_trim(void);

/// Creates an anonymous file in memory with memfd_create(2), closed on exec. The function is in C, because memfd_create
/// is not in Swift's Glibc module.
int cl_memory_file_create(const char *name, int32_t *file);

/// Punches a hole into the file with fallocate(2): the kernel frees the pages, and the file keeps its size. Returns 0
/// or errno.
int cl_memory_file_release(int32_t file, int64_t offset, int64_t count);

#endif
