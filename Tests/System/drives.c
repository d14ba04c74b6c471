// A gimbal with three drives on a CAN bus: models of its parts, each in its own process. In C, because the lab is emulated.
//
//   drives plant MEMORY FOLDER       rigid camera on three joints; writes a BMI088's registers (the lab's module, debugfs)
//   drives drive MEMORY INTERFACE PROTOCOL AXIS ID
//   drives monitor INTERFACE SECONDS   counts frames and their bits
//   drives busy 0 0                    keeps the processor busy with the lowest priority: a machine whose clock counts
//                                      instructions is never late then, because it never sleeps in its host's time
//
// MEMORY is a file that all of them map: `struct memory`. Joint angles are those of the joint order yaw, roll, pitch. Commands on a drive's standard input: `fault CODE`, `silent 0|1`. On the plant's: `amplitude DEGREES`. The plant writes every
// 20 ms: time, number of drives that are on, handle roll and pitch, camera yaw, roll and pitch, joints, degrees.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <math.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "joint.h"

static struct memory *memory;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void map(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *memory) < 0) { perror(path); exit(1); }
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) { perror("mmap"); exit(1); }
}

// Lines from standard input, without waiting. The end of the input ends the process.
static void listen_to(void (*take)(const char *)) {
    static char line[256];
    static size_t used;
    ssize_t got = read(0, line + used, sizeof line - 1 - used);
    if (got == 0) exit(0);
    if (got < 0) return;
    used += got;
    line[used] = 0;
    for (char *end; (end = strchr(line, '\n')); used = strlen(line)) {
        *end = 0;
        take(line);
        memmove(line, end + 1, strlen(end + 1) + 1);
    }
}

#include "drive_models.h"
#include "drive_plant.h"

// ---- monitor

// Frames, and the bits of them with the largest number of stuff bits; for CAN FD the time is counted in bits of 1 Mbit/s.
static void monitor(const char *interface, double seconds) {
    can = open_can(interface);
    int64_t until = now_ns() + (int64_t)(seconds * 1e9);
    long frames = 0;
    double bits = 0;
    while (now_ns() < until) {
        struct pollfd wait = {.fd = can, .events = POLLIN};
        poll(&wait, 1, 10);
        struct canfd_frame f;
        for (ssize_t got; (got = read(can, &f, sizeof f)) > 0; frames++) {
            int extended = (f.can_id & CAN_EFF_FLAG) != 0, length = f.can_id & CAN_RTR_FLAG ? 0 : f.len;
            if (got == CANFD_MTU) bits += 60 + (8 * length + 30) * 1.25 / 5;
            else bits += (extended ? 67 : 47) + 8 * length + ((extended ? 54 : 34) + 8 * length - 1) / 4;
        }
    }
    printf("%.0f %.1f\n", frames / seconds, bits / seconds / 1e4);
}

int main(int count, char **arguments) {
    fcntl(0, F_SETFL, O_NONBLOCK);
    if (count >= 4 && strcmp(arguments[1], "monitor") == 0) return monitor(arguments[2], atof(arguments[3])), 0;
    if (count < 4) return 2;
    if (strcmp(arguments[1], "busy") == 0) {
        struct sched_param none = {0};
        if (sched_setscheduler(0, SCHED_IDLE, &none) < 0) return perror("SCHED_IDLE"), 1;
        for (volatile unsigned n = 0;; n++) {}
    }
    map(arguments[2]);
    if (strcmp(arguments[1], "plant") == 0) plant(arguments[3]);
    if (count < 7) return 2;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(arguments[4], names[i]) == 0) protocol = i;
    joint = &memory->joints[atoi(arguments[5])];
    id = (uint32_t)atoi(arguments[6]);
    drive(arguments[3]);
}
