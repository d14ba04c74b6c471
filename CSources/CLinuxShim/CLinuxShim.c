#define _GNU_SOURCE
#include "CLinuxShim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "a thread handle must fit");

static const int64_t nanoseconds_per_second = 1000000000;

static struct timespec to_timespec(int64_t nanoseconds)
{
    if (nanoseconds < 0)
        nanoseconds = 0;
    struct timespec result = {
        .tv_sec = (time_t)(nanoseconds / nanoseconds_per_second),
        .tv_nsec = (long)(nanoseconds % nanoseconds_per_second),
    };
    return result;
}

int64_t cl_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * nanoseconds_per_second + now.tv_nsec;
}

int cl_sleep_until(int64_t deadline_ns)
{
    const struct timespec deadline = to_timespec(deadline_ns);
    int result;
    do
        result = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
    while (result == EINTR);
    return result;
}

int cl_futex_wait_until(const void *word, uint32_t expected, int64_t deadline_ns)
{
    // FUTEX_WAIT has a relative timeout. FUTEX_WAIT_BITSET has an absolute timeout, by default on CLOCK_MONOTONIC.
    const struct timespec deadline = to_timespec(deadline_ns);
    const long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, &deadline, NULL,
                                FUTEX_BITSET_MATCH_ANY);
    return result == 0 ? 0 : errno;
}

int cl_futex_wake(const void *word)
{
    const long result = syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    return result >= 0 ? 0 : errno;
}

int cl_thread_start(uint64_t *handle, size_t stack_bytes, void *(*entry)(void *), void *context)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t minimum = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    size_t size = stack_bytes < minimum ? minimum : stack_bytes;
    size = (size + page - 1) / page * page;

    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    pthread_t thread = 0;
    error = pthread_attr_setstacksize(&attributes, size);
    if (error == 0)
        error = pthread_create(&thread, &attributes, entry, context);
    pthread_attr_destroy(&attributes);
    *handle = (uint64_t)thread;
    return error;
}

int cl_thread_join(uint64_t handle) { return pthread_join((pthread_t)handle, NULL); }

int cl_thread_detach(uint64_t handle) { return pthread_detach((pthread_t)handle); }

int cl_thread_set_name(const char *name)
{
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    return pthread_setname_np(pthread_self(), kept);
}

int32_t cl_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

__attribute__((noinline)) void cl_stack_prefault(size_t bytes)
{
    // Writes one byte of each page, from the highest address down, so that no write skips the guard page below the
    // stack.
    volatile unsigned char *const area = __builtin_alloca(bytes);
    for (size_t offset = bytes; offset > 4096; offset -= 4096)
        area[offset - 1] = 0;
    area[0] = 0;
}

int cl_sched_set_fifo(int32_t priority)
{
    const struct sched_param parameters = {.sched_priority = priority};
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
}

int cl_sched_get(int32_t *policy, int32_t *priority)
{
    struct sched_param parameters;
    int value;
    const int error = pthread_getschedparam(pthread_self(), &value, &parameters);
    if (error != 0)
        return error;
    *policy = value;
    *priority = parameters.sched_priority;
    return 0;
}

int cl_affinity_set(int32_t cpu)
{
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return EINVAL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

int32_t cl_affinity_single(void)
{
    cpu_set_t set;
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0 || CPU_COUNT(&set) != 1)
        return -1;
    return cl_affinity_last();
}

int32_t cl_affinity_last(void)
{
    cpu_set_t set;
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0)
        return -1;
    for (int32_t cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    return -1;
}

int cl_timer_slack_set(uint64_t nanoseconds)
{
    return prctl(PR_SET_TIMERSLACK, (unsigned long)nanoseconds, 0, 0, 0) == 0 ? 0 : errno;
}

int64_t cl_rtprio_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTPRIO, &limit) != 0)
        return 0;
    return limit.rlim_cur == RLIM_INFINITY ? -1 : (int64_t)limit.rlim_cur;
}

int cl_wall_clock_synchronised(bool *is_synchronised)
{
    struct timex clock = {0};
    if (adjtimex(&clock) < 0)
        return errno;
    *is_synchronised = (clock.status & STA_UNSYNC) == 0;
    return 0;
}

int cl_memory_lock(void) { return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno; }

int cl_default_stack_size_set(size_t bytes)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_setstacksize(&attributes, bytes);
    if (error == 0)
        error = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return error;
}

int cl_malloc_configure(int32_t arenas, int32_t threshold_bytes)
{
    const int accepted = mallopt(M_ARENA_MAX, arenas) & mallopt(M_MMAP_THRESHOLD, threshold_bytes) &
                         mallopt(M_TRIM_THRESHOLD, threshold_bytes);
    return accepted == 1 ? 0 : EINVAL;
}

void cl_malloc_trim(void) { malloc_trim(0); }

int cl_memory_file_create(const char *name, int32_t *file)
{
    *file = memfd_create(name, MFD_CLOEXEC);
    return *file < 0 ? errno : 0;
}

int cl_memory_file_release(int32_t file, int64_t offset, int64_t count)
{
    return fallocate(file, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, count) == 0 ? 0 : errno;
}
