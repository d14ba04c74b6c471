// Registers of a BMI088 in the lab's module (debugfs), as the simulated gimbals write them.

#pragma once

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rotation.h"

static double noise(void) { return (rand() % 2001 - 1000) / 1000.0; }

static void word(unsigned char *to, double value) {
    int n = (int)lround(fmax(-32768, fmin(32767, value + 2 * noise())));
    to[0] = n & 0xFF;
    to[1] = n >> 8 & 0xFF;
}

static int registers(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/regs", folder, name);
    int fd = open(path, O_RDWR);
    if (fd < 0) { perror(path); exit(1); }
    return fd;
}

static void put(int fd, int reg, const void *bytes, int count) {
    if (pwrite(fd, bytes, count, reg) != count) { perror("pwrite"); exit(1); }
}

static int accelerometer, gyroscope;

static void begin_sensor(const char *folder) {
    unsigned char ids[2] = {0x1E, 0x0F};
    accelerometer = registers(folder, "i2c-0x18"), gyroscope = registers(folder, "i2c-0x68");
    put(accelerometer, 0, &ids[0], 1);
    put(gyroscope, 0, &ids[1], 1);
}

// Measurements of a camera with this attitude and this rate, rad/s, camera frame.
static void measure(rotation camera, const double w[3]) {
    static unsigned counter;
    unsigned char bytes[9] = {0}, power;
    if (pread(accelerometer, &power, 1, 0x7D) != 1) { perror("pread"); exit(1); }
    counter += 26;
    for (int i = 0; power && i < 3; i++) word(bytes + 2 * i, -camera.m[2][i] * 32768 / 24);
    for (int i = 0; power && i < 3; i++) bytes[6 + i] = counter >> (8 * i) & 0xFF;
    put(accelerometer, 0x12, bytes, 9);
    for (int i = 0; i < 3; i++) word(bytes + 2 * i, w[i] * 32767 / (2000 * M_PI / 180));
    put(gyroscope, 0x02, bytes, 6);
}
