// The simulated gimbal of drives.c: a rigid camera on three joints, and the handle's motion. Only drives.c includes this file.

#pragma once

#include "bmi088.h"
#include "rotation.h"

static void to_angles(rotation r, double angles[3]) {
    angles[0] = atan2(-r.m[0][1], r.m[1][1]);
    angles[1] = asin(fmax(-1, fmin(1, r.m[2][1])));
    angles[2] = atan2(-r.m[2][0], r.m[2][2]);
}

// Rotation by a small vector.
static rotation turned(rotation r, const double w[3], double dt) {
    double norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), angle = norm * dt;
    if (angle < 1e-12) return r;
    double x = w[0] / norm, y = w[1] / norm, z = w[2] / norm, s = sin(angle), c = 1 - cos(angle);
    rotation t = {{{1 - c * (y * y + z * z), c * x * y - s * z, c * x * z + s * y},
                   {c * x * y + s * z, 1 - c * (x * x + z * z), c * y * z - s * x},
                   {c * x * z - s * y, c * y * z + s * x, 1 - c * (x * x + y * y)}}};
    return times(r, t);
}

static double det(const double a[3][3]) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
        + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// Cramer's rule: a x = b.
static void solve(const double a[3][3], const double b[3], double x[3]) {
    double whole = det(a);
    for (int k = 0; k < 3; k++) {
        double m[3][3];
        memcpy(m, a, sizeof m);
        for (int i = 0; i < 3; i++) m[i][k] = b[i];
        x[k] = det(m) / whole;
    }
}

#define INERTIA 2.5e-3
#define FRICTION 0.010
#define VISCOUS 0.002
#define STEP 0.0005
// Delay of the encoders, steps: 1 ms from the angle to the drive's answer.
#define DELAY 2

static double amplitude;
static void plant_line(const char *line) { sscanf(line, "amplitude %lf", &amplitude); }

static void plant(const char *folder) {
    begin_sensor(folder);
    rotation camera = from_angles(0, 0, 0), handle = camera;
    double w[3] = {0}, swing = 0, shown = 0, t = 0, angles[DELAY][3] = {0}, speeds[DELAY][3] = {0};
    int slot = 0;
    int64_t began = now_ns();
    for (;;) {
        listen_to(plant_line);
        double until = (now_ns() - began) * 1e-9;
        // A machine that stood still must not make the gimbal swing without its controller.
        if (until - t > 0.1) began += (int64_t)((until - t - STEP) * 1e9), until = t + STEP;
        double handle_angles[3] = {0};
        for (; t < until; t += STEP) {
            swing += STEP / 0.5 * (amplitude * M_PI / 180 - swing);
            handle_angles[0] = 0.5 * swing * sin(2 * M_PI * 0.17 * t);
            handle_angles[1] = swing * sin(2 * M_PI * 0.4 * t);
            handle_angles[2] = swing * sin(2 * M_PI * 0.53 * t);
            rotation next = from_angles(handle_angles[0], handle_angles[1], handle_angles[2]);
            rotation step = times(inverse(handle), next);
            double wh[3] = {(step.m[2][1] - step.m[1][2]) / 2 / STEP, (step.m[0][2] - step.m[2][0]) / 2 / STEP,
                            (step.m[1][0] - step.m[0][1]) / 2 / STEP};
            handle = next;
            rotation relative = times(inverse(handle), camera);
            double q[3];
            to_angles(relative, q);
            double sr = sin(q[1]), cr = cos(q[1]), sp = sin(q[2]), cp = cos(q[2]);
            // Axes of yaw, roll and pitch in the camera's frame, as columns; and as rows, because the moment's component
            // along an axis is the torque of its joint.
            double columns[3][3] = {{-cr * sp, cp, 0}, {sr, 0, 1}, {cr * cp, sp, 0}};
            double rows[3][3], base[3], rates[3], torques[3], moment[3];
            for (int i = 0; i < 3; i++) {
                base[i] = w[i];
                for (int k = 0; k < 3; k++) base[i] -= relative.m[k][i] * wh[k], rows[k][i] = columns[i][k];
            }
            solve(columns, base, rates);
            for (int i = 0; i < 3; i++) {
                struct joint *joint = &memory->joints[i];
                joint->angle = angles[slot][i];
                joint->rate = speeds[slot][i];
                angles[slot][i] = q[i];
                speeds[slot][i] = rates[i];
                torques[i] = joint->torque - FRICTION * tanh(rates[i] / 0.02) - VISCOUS * rates[i];
            }
            slot = (slot + 1) % DELAY;
            solve(rows, torques, moment);
            for (int i = 0; i < 3; i++) w[i] += moment[i] / INERTIA * STEP;
            camera = turned(camera, w, STEP);
        }
        measure(camera, w);
        if (t - shown >= 0.02) {
            double c[3];
            to_angles(camera, c);
            shown = t;
            const double to = 180 / M_PI;
            printf("%.4f %d %.3f %.3f %.4f %.4f %.4f %.3f %.3f %.3f\n", t,
                   (int)(memory->joints[0].is_on + memory->joints[1].is_on + memory->joints[2].is_on), handle_angles[1] * to,
                   handle_angles[2] * to, c[0] * to, c[1] * to, c[2] * to, memory->joints[0].angle * to,
                   memory->joints[1].angle * to, memory->joints[2].angle * to);
            fflush(stdout);
        }
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
}
