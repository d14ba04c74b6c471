#define _GNU_SOURCE
#include "CLinuxShimProcess.h"

#include <spawn.h>

int cl_spawn_close_from(void *actions, int32_t first)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
