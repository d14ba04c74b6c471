// Servos, or a motor board with the reference firmware's protocol, at the far end of a pseudoterminal: for airframed, and for
// `airframectl motor`. In C++, because the lab is emulated.
//
//   servos head LINK feetech|dynamixel COUNT FOLDER   servos that turn a camera on a swinging handle; writes a BMI088's registers
//   servos torque LINK board|dynamixel MEMORY         torque motors of the joints of `drives plant MEMORY FOLDER`: a board, or
//                                                     servos in current mode
//
// LINK becomes a symbolic link to the pseudoterminal. Servos with goals have a lag of 20 ms and 6 rad/s; adapters of servos echo. Commands
// on standard input: `amplitude DEGREES`, `silent MOTOR 0|1`, `fault MOTOR CODE` (a board: `fault 0 CODE`), `damaged FRACTION` (both directions),
// `voltage V`. A line every 20 ms: time, number of motors that are on, handle roll and pitch, camera yaw, roll and pitch,
// joints (degrees; torque motors: zeros), requests, bytes received and sent, times of the fault and of the last motor off, ns.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "MotorModels.h"
#include "bmi088.h"
#include "joint.h"

static mm_model model;
static struct memory *memory;
static double amplitude;
static int64_t fault_at;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void take(const char *line) {
    int motor, code;
    double value;
    if (sscanf(line, "amplitude %lf", &value) == 1) amplitude = value;
    if (sscanf(line, "damaged %lf", &value) == 1) model.damaged = model.damaged_commands = value;
    if (sscanf(line, "voltage %lf", &value) == 1)
        for (int i = 0; i < 3; i++) model.motors[i].voltage = value;
    if (sscanf(line, "silent %d %d", &motor, &code) == 2) {
        model.motors[motor % 3].is_silent = code;
        if (code) fault_at = now_ns();
    }
    if (sscanf(line, "fault %d %i", &motor, &code) == 2) {
        if (model.kind == MM_BOARD) model.board_fault = code;
        else model.motors[motor % 3].fault = code;
        if (code) fault_at = now_ns();
    }
}

// Lines from standard input, without waiting. The end of the input ends the process.
static void listen(void) {
    static char line[256];
    static size_t used;
    ssize_t got = read(0, line + used, sizeof line - 1 - used);
    if (got == 0) exit(0);
    if (got < 0) return;
    used += (size_t)got;
    line[used] = 0;
    for (char *end; (end = strchr(line, '\n')); used = strlen(line)) {
        *end = 0;
        take(line);
        memmove(line, end + 1, strlen(end + 1) + 1);
    }
}

static int open_line(const char *link) {
    char name[64];
    int fd = mm_open_line(name, sizeof name);
    // The near end stays open, so that the far end does not report a hang-up while airframed is closed.
    if (fd < 0 || open(name, O_RDWR | O_NOCTTY) < 0) { perror("pseudoterminal"); exit(1); }
    unlink(link);
    if (symlink(name, link) < 0) { perror(link); exit(1); }
    return fd;
}

static void serve(int fd) {
    uint8_t bytes[1024];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got > 0) mm_receive(&model, bytes, (int)got, now_ns());
    int count = mm_send(&model, bytes, sizeof bytes);
    if (count > 0 && write(fd, bytes, (size_t)count) < 0 && errno != EAGAIN) { perror("write"); exit(1); }
}

static void to_angles(rotation r, double angles[3]) {
    angles[0] = atan2(-r.m[0][1], r.m[1][1]);
    angles[1] = asin(fmax(-1, fmin(1, r.m[2][1])));
    angles[2] = atan2(-r.m[2][0], r.m[2][2]);
}

// The joints at the servos' angles; with two servos, they are yaw and pitch.
static void joints_of(double joints[3]) {
    int pitch = model.count == 2 ? 1 : 2;
    joints[0] = model.motors[0].angle - M_PI;
    joints[1] = model.count == 2 ? 0 : model.motors[1].angle - M_PI;
    joints[2] = model.motors[pitch].angle - M_PI;
}

static void show(double t, const double handle[3], const double camera[3], const double joints[3]) {
    const double to = 180 / M_PI;
    int on = 0;
    int64_t off_at = 0;
    for (int i = 0; i < model.count; i++) {
        on += model.motors[i].is_on;
        if (model.motors[i].off_at > off_at) off_at = model.motors[i].off_at;
    }
    printf("%.4f %d %.3f %.3f %.4f %.4f %.4f %.3f %.3f %.3f %lld %lld %lld %lld %lld\n", t, on, handle[1] * to, handle[2] * to,
           camera[0] * to, camera[1] * to, camera[2] * to, joints[0] * to, joints[1] * to, joints[2] * to,
           (long long)model.requests, (long long)model.received_bytes, (long long)model.sent_bytes, (long long)fault_at,
           (long long)off_at);
    fflush(stdout);
}

static void head(int line, const char *folder) {
    const double step = 0.001;
    begin_sensor(folder);
    rotation before = from_angles(0, 0, 0);
    double t = 0, swing = 0, shown = 0;
    int64_t began = now_ns();
    for (;;) {
        struct pollfd waits[2] = {{line, POLLIN, 0}, {0, POLLIN, 0}};
        poll(waits, 2, 1);
        if (waits[1].revents) listen();
        serve(line);
        double until = (now_ns() - began) * 1e-9;
        if (until - t > 0.1) began += (int64_t)((until - t - step) * 1e9), until = t + step;
        if (until - t < step) continue;
        double handle[3] = {0}, camera[3], joints[3], w[3] = {0};
        for (; t + step <= until; t += step) {
            swing += step / 0.5 * (amplitude * M_PI / 180 - swing);
            handle[0] = 0.5 * swing * sin(2 * M_PI * 0.17 * t);
            // A head without a roll servo does not level roll, so its handle does not roll.
            handle[1] = model.count == 2 ? 0 : swing * sin(2 * M_PI * 0.4 * t);
            handle[2] = swing * sin(2 * M_PI * 0.53 * t);
            mm_move(&model, step, now_ns());
            joints_of(joints);
            rotation now = times(from_angles(handle[0], handle[1], handle[2]), from_angles(joints[0], joints[1], joints[2]));
            rotation turn = times(inverse(before), now);
            w[0] = (turn.m[2][1] - turn.m[1][2]) / 2 / step;
            w[1] = (turn.m[0][2] - turn.m[2][0]) / 2 / step;
            w[2] = (turn.m[1][0] - turn.m[0][1]) / 2 / step;
            before = now;
        }
        measure(before, w);
        if (t - shown >= 0.02) {
            shown = t;
            to_angles(before, camera);
            show(t, handle, camera, joints);
        }
    }
}

// Torque of a DYNAMIXEL XL330-M288 for each ampere: 0.52 N·m at 1.47 A, 5 V (ROBOTIS e-Manual).
static const double nm_per_a = 0.52 / 1.47;

static void torque_motors(int line, const char *path) {
    bool is_board = model.kind == MM_BOARD;
    // The encoders have 14 bits on a board, and 12 bits in a servo, whose angle is 180 degrees at the joint's zero.
    double steps = is_board ? 16384 : 4096, zero = is_board ? 0 : M_PI, factor = is_board ? 1 : nm_per_a;
    int fd = open(path, O_RDWR);
    memory = (struct memory *)mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || memory == MAP_FAILED) { perror(path); exit(1); }
    double applied[3] = {0};
    int64_t last = now_ns(), shown = last;
    const double zeros[3] = {0};
    for (;;) {
        struct pollfd waits[2] = {{line, POLLIN, 0}, {0, POLLIN, 0}};
        poll(waits, 2, 1);
        if (waits[1].revents) listen();
        for (int i = 0; i < 3; i++) {
            double angle = floor(memory->joints[i].angle / (2 * M_PI) * steps + 0.3 * noise()) + 0.5;
            model.motors[i].angle = zero + angle / steps * 2 * M_PI;
            model.motors[i].rate = memory->joints[i].rate;
        }
        serve(line);
        int64_t now = now_ns();
        double dt = (now - last) * 1e-9;
        last = now;
        mm_move(&model, dt, now);
        for (int i = 0; i < 3; i++) {
            applied[i] += dt / (0.0005 + dt) * (factor * model.motors[i].torque - applied[i]);
            memory->joints[i].torque = model.motors[i].is_on ? applied[i] : 0;
            if (memory->joints[i].is_on && !model.motors[i].is_on) memory->joints[i].off_at = now;
            memory->joints[i].is_on = model.motors[i].is_on;
        }
        if (now - shown >= 20000000) {
            shown = now;
            show(now * 1e-9, zeros, zeros, zeros);
        }
    }
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    fcntl(0, F_SETFL, O_NONBLOCK);
    bool is_head = strcmp(arguments[1], "head") == 0;
    if (count < (is_head ? 6 : 5)) return 2;
    const char *name = arguments[3];
    mm_kind kind = strcmp(name, "board") == 0 ? MM_BOARD : strcmp(name, "feetech") == 0 ? MM_FEETECH : MM_DYNAMIXEL;
    mm_begin(&model, kind, is_head ? atoi(arguments[4]) : 3);
    model.echoes = kind != MM_BOARD;
    int line = open_line(arguments[2]);
    if (is_head) head(line, arguments[5]);
    else torque_motors(line, arguments[4]);
}
