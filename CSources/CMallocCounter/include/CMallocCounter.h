// Counts every call into the allocator, per thread, by standing in front of glibc's malloc. For tests and benchmarks
// only: linking this target replaces malloc for the whole program.
//
// As a library of its own it can be preloaded into a program that knows nothing of it:
//     MALLOC_COUNTER_FILE=/tmp/counts LD_PRELOAD=libMallocCounter.so airframed
// The file then holds the counters of all threads but the first, as they are at the moment: a table of
// MC_TABLE_THREADS entries, each an int32_t with the thread's kernel id (0: not in use), four bytes of padding, and an
// int64_t with its calls.
//
// C, because the override has to be there before Swift's runtime starts, and must not allocate itself. Under a
// sanitizer, which has a malloc of its own, nothing is replaced and `mc_is_active()` says so.
#ifndef CMALLOCCOUNTER_H
#define CMALLOCCOUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Entries of the table, and the size of each.
#define MC_TABLE_THREADS 64
#define MC_TABLE_ENTRY_BYTES 16

/// Whether malloc really is replaced: calls it once and looks whether it was counted.
bool mc_is_active(void);

/// Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign and free by the calling thread so far.
int64_t mc_count(void);

/// The same for another thread, by its kernel id; -1 when that thread has not called the allocator, or the table of 64
/// threads is full.
int64_t mc_count_of_thread(int32_t thread_id);

#endif
