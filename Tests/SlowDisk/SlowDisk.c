// A disk that takes its time: preloaded, fsync(2) and fdatasync(2) sleep SLOW_DISK_MS milliseconds before they do anything, as a worn
// SD card does when it moves its blocks about.
#define _GNU_SOURCE
#include "SlowDisk.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void) {
    const char *text = getenv("SLOW_DISK_MS");
    long ms = text ? atol(text) : 0;
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0) {}
}

int fsync(int file) {
    wait_for_disk();
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_for_disk();
    return (int)syscall(SYS_fdatasync, file);
}
