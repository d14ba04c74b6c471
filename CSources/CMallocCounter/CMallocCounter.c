#define _GNU_SOURCE
#include "CMallocCounter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MC_SANITIZED 1
#endif
#endif

typedef struct {
    _Atomic int32_t thread_id;
    _Atomic int64_t count;
} mc_slot;

enum { slot_count = MC_TABLE_THREADS };
_Static_assert(sizeof(mc_slot) == MC_TABLE_ENTRY_BYTES, "the header describes the table's layout");
static mc_slot own_table[slot_count];
static mc_slot *slots = own_table;
static _Atomic int32_t slots_taken;

// With any model except initial-exec, a thread's first access to the variable could call malloc in a preloaded library.
#define MC_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
MC_THREAD_LOCAL mc_slot *own_slot;
MC_THREAD_LOCAL mc_slot fallback_slot;

// Replaces the table of counters by a table in a file, so that another process can read the counters. The file does not
// contain threads that claimed a slot earlier, such as the main thread.
__attribute__((constructor)) static void share_table(void)
{
    const char *const path = getenv("MALLOC_COUNTER_FILE");
    if (path == NULL)
        return;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (ftruncate(file, sizeof own_table) == 0) {
        void *const table = mmap(NULL, sizeof own_table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (table != MAP_FAILED)
            slots = table;
    }
    close(file);
}

static mc_slot *claim(void)
{
    const int32_t index = atomic_fetch_add_explicit(&slots_taken, 1, memory_order_relaxed);
    if (index >= slot_count)
        return &fallback_slot;
    atomic_store_explicit(&slots[index].thread_id, (int32_t)syscall(SYS_gettid), memory_order_release);
    return &slots[index];
}

static mc_slot *mine(void)
{
    if (own_slot == NULL)
        own_slot = claim();
    return own_slot;
}

int64_t mc_count(void) { return atomic_load_explicit(&mine()->count, memory_order_relaxed); }

int64_t mc_count_of_thread(int32_t thread_id)
{
    // The search begins at the newest slot, because the kernel reuses the ids of threads that have ended.
    int32_t taken = atomic_load_explicit(&slots_taken, memory_order_relaxed);
    if (taken > slot_count)
        taken = slot_count;
    for (int32_t index = taken - 1; index >= 0; index--)
        if (atomic_load_explicit(&slots[index].thread_id, memory_order_acquire) == thread_id)
            return atomic_load_explicit(&slots[index].count, memory_order_relaxed);
    return -1;
}

bool mc_is_active(void)
{
    const int64_t before = mc_count();
    // Without volatile, the compiler would remove a malloc whose block is not used.
    void *volatile block = malloc(16);
    free(block);
    return mc_count() == before + 2;
}

#ifndef MC_SANITIZED

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void note(void)
{
    mc_slot *const slot = mine();
    const int64_t count = atomic_load_explicit(&slot->count, memory_order_relaxed);
    atomic_store_explicit(&slot->count, count + 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
    note();
    return __libc_malloc(size);
}

void free(void *block)
{
    note();
    __libc_free(block);
}

void *calloc(size_t count, size_t size)
{
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    note();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    note();
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *const block = __libc_memalign(alignment, size);
    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

#endif
