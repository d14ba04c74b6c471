// Counter of the allocator calls of each thread, for tests and benchmarks only. A program that links this target calls
// these functions instead of glibc's malloc. The functions count each call, then call glibc.
//
// As a separate library it can be preloaded into any program:
//     MALLOC_COUNTER_FILE=/tmp/counts LD_PRELOAD=libMallocCounter.so airframed
// The file then contains the present counters of all threads except the first: a table of MC_TABLE_THREADS entries. Each
// entry consists of an int32_t with the thread's kernel id (0 in an unused entry), four bytes of padding, and an int64_t
// with the number of calls.
//
// The counter is in C, because it must work before Swift's runtime starts, and must not allocate memory itself. A
// sanitizer replaces malloc itself; the counter then does nothing, and mc_is_active() returns false.
#ifndef CMALLOCCOUNTER_H
#define CMALLOCCOUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Number of entries of the table, and size of an entry.
#define MC_TABLE_THREADS 64
#define MC_TABLE_ENTRY_BYTES 16

/// Returns whether malloc is replaced: calls malloc and free, and checks that both calls were counted.
bool mc_is_active(void);

/// Returns the number of calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign and free that the calling
/// thread has made.
int64_t mc_count(void);

/// Returns the number of allocator calls of another thread, identified by its kernel id; -1 if that thread has not
/// called the allocator, or if it has no entry because the table of 64 threads is full.
int64_t mc_count_of_thread(int32_t thread_id);

#endif
