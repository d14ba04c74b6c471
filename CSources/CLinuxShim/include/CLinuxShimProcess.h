// Start of other programs for Swift.
#ifndef CLINUXSHIMPROCESS_H
#define CLINUXSHIMPROCESS_H

#include <stdint.h>

/// Makes posix_spawn(3) close all descriptors from `first` in the new program, after the earlier actions. Returns 0 or a
/// positive errno. `actions` is a posix_spawn_file_actions_t; this header does not include spawn.h, because the types of
/// Swift's Glibc module would then belong to this module. The function is in C, because
/// posix_spawn_file_actions_addclosefrom_np is not in Swift's Glibc module.
int cl_spawn_close_from(void *actions, int32_t first);

#endif
