// A disk that takes its time: preloaded, fsync(2) sleeps SLOW_DISK_MS milliseconds before it does anything, as a worn SD card
// does when it moves its blocks about.
#define _GNU_SOURCE
#include "SlowDisk.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int file) {
    const char *text = getenv("SLOW_DISK_MS");
    long ms = text ? atol(text) : 0;
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0) {}
    return (int)syscall(SYS_fsync, file);
}
