// Rotation matrices of the simulated gimbals plant.c and drives.c.

#pragma once

#include <math.h>

typedef struct { double m[3][3]; } rotation;

static rotation times(rotation a, rotation b) {
    rotation r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            r.m[i][j] = 0;
            for (int k = 0; k < 3; k++) r.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    return r;
}

static rotation inverse(rotation a) {
    rotation r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r.m[i][j] = a.m[j][i];
    return r;
}

// Rz(yaw) Rx(roll) Ry(pitch).
static rotation from_angles(double yaw, double roll, double pitch) {
    rotation z = {{{cos(yaw), -sin(yaw), 0}, {sin(yaw), cos(yaw), 0}, {0, 0, 1}}};
    rotation x = {{{1, 0, 0}, {0, cos(roll), -sin(roll)}, {0, sin(roll), cos(roll)}}};
    rotation y = {{{cos(pitch), 0, sin(pitch)}, {0, 1, 0}, {-sin(pitch), 0, cos(pitch)}}};
    return times(times(z, x), y);
}
