// A gimbal with three drives on a CAN bus: models of its parts, each in its own process. In C, because the lab is emulated.
//
//   drives plant MEMORY FOLDER       rigid camera on three joints; writes a BMI088's registers (the lab's module, debugfs)
//   drives drive MEMORY INTERFACE PROTOCOL AXIS ID [WATCHDOG_MS]
//   drives monitor INTERFACE SECONDS   counts frames and their bits
//   drives busy 0 0                    keeps the processor busy with the lowest priority: a machine whose clock counts
//                                      instructions is never late then, because it never sleeps in its host's time
//
// MEMORY is a file that all of them map: `struct memory`. A drive applies its torque with a lag of 0.5 ms, measures the joint
// with 14 bits, noise and a delay of 1 ms, and stops when it gets no command for WATCHDOG_MS (50; a GM6020 has no watchdog; a moteus's is
// written over the bus, and a Damiao drive's, which is 0 without supply). Joint angles are those of the joint order yaw, roll, pitch.
// Commands on a drive's standard input: `fault CODE`, `silent 0|1`. On the plant's: `amplitude DEGREES`. The plant writes every
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

#include "bmi088.h"
#include "joint.h"
#include "rotation.h"

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

// ---- plant

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

// ---- drives

enum protocol { ODRIVE, GM6020, GM6020_VOLTAGE, MIT, CYBERGEAR, MOTEUS };
static const char *names[] = {"odrive", "gm6020", "gm6020_voltage", "mit", "cybergear", "moteus"};

static int can = -1;
static enum protocol protocol;
static uint32_t id;
static struct joint *joint;
static double wanted, applied;
static int is_on, is_torque_mode, is_silent;
static uint32_t fault;
static int64_t watchdog = 50000000, fed;

static void switch_off(void) {
    if (joint->is_on) joint->off_at = now_ns();
    is_on = joint->is_on = 0;
    wanted = 0;
}

static void switch_on(void) {
    if (fault) return;
    is_on = joint->is_on = 1;
    fed = now_ns();
}

static void fail(uint32_t code) {
    fault = code;
    joint->faults++;
    joint->fault_at = now_ns();
    switch_off();
}

static void drive_line(const char *line) {
    unsigned code;
    if (sscanf(line, "fault %x", &code) == 1) fail(code);
    if (sscanf(line, "silent %d", &is_silent) == 1 && is_silent) {
        // It has lost its supply.
        joint->fault_at = now_ns();
        fault = 0;
        if (protocol == MIT) watchdog = 0;
        switch_off();
    }
}

static void say(uint32_t can_id, const void *data, int length, int is_fd) {
    struct canfd_frame frame = {.can_id = can_id, .len = length};
    memcpy(frame.data, data, length);
    if (is_fd) frame.flags = CANFD_BRS;
    if (!is_silent) (void)!write(can, &frame, is_fd ? CANFD_MTU : CAN_MTU);
}

static double measured(void) { return (floor(joint->angle / (2 * M_PI) * 16384 + 0.3 * noise()) + 0.5) / 16384; }

static uint32_t encode(double value, double range, int bits) {
    double top = (double)((1u << bits) - 1), n = round((value + range) / (2 * range) * top);
    return n < 0 ? 0 : n > top ? (uint32_t)top : (uint32_t)n;
}

static double decode(uint32_t n, double range, int bits) { return n / (double)((1u << bits) - 1) * 2 * range - range; }

static void big(unsigned char *to, uint32_t n) { to[0] = n >> 8, to[1] = n; }

static void command(double torque) {
    joint->commands++;
    joint->last_command_at = now_ns();
    wanted = is_on ? fmax(-1, fmin(1, torque)) : 0;
}

static void floats(uint32_t can_id, float a, float b) {
    float pair[2] = {a, b};
    say(can_id, pair, 8, 0);
}

static void odrive(const struct canfd_frame *f) {
    if (f->can_id & CAN_EFF_FLAG || (f->can_id & CAN_SFF_MASK) >> 5 != id) return;
    uint32_t number = f->can_id & 31, base = id << 5, words[2] = {0};
    fed = now_ns();
    memcpy(words, f->data, f->len < 8 ? f->len : 8);
    if (f->can_id & CAN_RTR_FLAG) {
        unsigned char version[8] = {2, 4, 4, 58, 0, 6, 9, 0};
        uint32_t errors[2] = {fault, 0};
        if (number == 0x09) floats(base | 0x09, (float)measured(), (float)(joint->rate / (2 * M_PI)));
        if (number == 0x03) say(base | 0x03, errors, 8, 0);
        if (number == 0x17) floats(base | 0x17, 24.2f, 0.3f);
        if (number == 0x15) floats(base | 0x15, 31, 35);
        if (number == 0x00) say(base, version, 8, 0);
    } else if (number == 0x07) {
        if (words[0] == 8) switch_on();
        if (words[0] == 1) switch_off();
    } else if (number == 0x0B) {
        is_torque_mode = words[0] == 1 && words[1] == 1;
    } else if (number == 0x0E) {
        float torque;
        memcpy(&torque, f->data, 4);
        command(is_torque_mode ? torque : 0);
    } else if (number == 0x18) {
        fault = 0;
    }
}

static void gm6020(const struct canfd_frame *f) {
    uint32_t group = (protocol == GM6020 ? 0x1FE : 0x1FF) + (id > 4 ? 0x100 : 0);
    if (f->can_id != group || f->len != 8) return;
    int at = 2 * ((id - 1) % 4);
    double raw = (int16_t)(f->data[at] << 8 | f->data[at + 1]);
    // A motor without commands has no current; the program's last command is zero.
    if (raw != 0 && !is_on) is_on = joint->is_on = 1;
    if (raw == 0) switch_off();
    command(protocol == GM6020 ? raw / 16384 * 3 * 0.741
                               : (raw / 25000 * 24 - joint->rate * 60 / (13.33 * 2 * M_PI)) / 1.8 * 0.741);
}

static void gm6020_feedback(void) {
    unsigned char data[8] = {0};
    int angle = (int)floor((measured() - floor(measured())) * 8192) & 8191;
    big(data, angle);
    big(data + 2, (uint32_t)(int)lround(joint->rate * 60 / (2 * M_PI)));
    big(data + 4, (uint32_t)(int)lround(applied / 0.741 / 3 * 16384));
    data[6] = 36;
    say(0x204 + id, data, 8, 0);
}

// Damiao's registers; only TIMEOUT (9) exists, in units of 50 us.
static void damiao_register(const struct canfd_frame *f) {
    const unsigned char *d = f->data;
    if (f->len != 8 || d[0] != id || d[1] != 0 || d[3] != 9 || (d[2] != 0x33 && d[2] != 0x55)) return;
    uint32_t value = (uint32_t)(watchdog / 50000);
    if (d[2] == 0x55) {
        memcpy(&value, d + 4, 4);
        watchdog = value * 50000LL;
    }
    unsigned char data[8] = {id, 0, d[2], 9};
    memcpy(data + 4, &value, 4);
    say(0x11, data, 8, 0);
}

static void mit(const struct canfd_frame *f) {
    if (f->can_id == 0x7FF) return damiao_register(f);
    if (f->can_id != id || f->len != 8) return;
    const unsigned char *d = f->data;
    int is_order = 1;
    for (int i = 0; i < 7; i++) is_order &= d[i] == 0xFF;
    fed = now_ns();
    if (is_order && d[7] == 0xFC) switch_on();
    else if (is_order && d[7] == 0xFD) switch_off();
    else if (is_order && d[7] == 0xFB) fault = 0;
    else command(decode((d[6] & 15) << 8 | d[7], 10, 12));
    unsigned char data[8];
    uint32_t rate = encode(joint->rate, 30, 12), torque = encode(applied, 10, 12);
    data[0] = id | (fault ? fault : (uint32_t)is_on) << 4;
    big(data + 1, encode(measured() * 2 * M_PI, 12.5, 16));
    data[3] = rate >> 4, data[4] = rate << 4 | torque >> 8, data[5] = torque, data[6] = 33, data[7] = 37;
    say(0x11, data, 8, 0);
}

static void cybergear(const struct canfd_frame *f) {
    if (!(f->can_id & CAN_EFF_FLAG) || (f->can_id & 0xFF) != id || f->len != 8) return;
    uint32_t type = f->can_id >> 24 & 31;
    fed = now_ns();
    if (type == 3) switch_on();
    if (type == 4) {
        switch_off();
        if (f->data[0] == 1) fault = 0;
    }
    if (type == 1) command(decode(f->can_id >> 8 & 0xFFFF, 12, 16));
    unsigned char data[8];
    big(data, encode(measured() * 2 * M_PI, 4 * M_PI, 16));
    big(data + 2, encode(joint->rate, 30, 16));
    big(data + 4, encode(applied, 12, 16));
    big(data + 6, 345);
    say(CAN_EFF_FLAG | 2u << 24 | (uint32_t)(is_on ? 2 : 0) << 22 | (fault & 0x3F) << 16 | id << 8 | 0x7D, data, 8, 0);
}

// Registers that a frame writes; then the reply to its requests.
static void moteus(const struct canfd_frame *f) {
    if ((f->can_id & 0x7F) != id || !(f->can_id & 0x8000)) return;
    float position = 0, torque = 0, kp = 1, kd = 1;
    int mode = -1, length = 0;
    unsigned char reply[64];
    fed = now_ns();
    for (int at = 0; at < f->len;) {
        unsigned char head = f->data[at++];
        if (head == 0x50) continue;
        int count = head & 3 ? head & 3 : f->data[at++], reg = f->data[at++], kind = head & 0xFC;
        if (kind == 0x00) {
            if (reg == 0) mode = f->data[at];
            at += count;
        } else if (kind == 0x0C) {
            for (int i = 0; i < count; i++, at += 4) {
                float value;
                memcpy(&value, f->data + at, 4);
                if (reg + i == 0x20) position = value;
                if (reg + i == 0x22) torque = value;
                if (reg + i == 0x23) kp = value;
                if (reg + i == 0x24) kd = value;
                if (reg + i == 0x27) watchdog = (int64_t)(value * 1e9);
            }
        } else if (kind == 0x1C && reg == 0 && count == 4) {
            float values[4] = {fault == 0x100 ? 11 : fault ? 1 : mode == 10 || (mode < 0 && is_on) ? 10 : 0, (float)measured(),
                               (float)(joint->rate / (2 * M_PI)), (float)applied};
            reply[length++] = 0x2C, reply[length++] = 4, reply[length++] = 0;
            memcpy(reply + length, values, 16), length += 16;
        } else if (kind == 0x10 && reg == 0x0D && count == 3) {
            unsigned char values[5] = {0x23, 0x0D, 48, 34, fault & 0xFF};
            memcpy(reply + length, values, 5), length += 5;
        }
    }
    if (mode == 0) {
        switch_off();
        fault = 0;
    }
    if (mode == 10 && !is_on) switch_on();
    // Only pure torque control is modelled; other commands give zero torque.
    if (mode == 10) command(isnan(position) && kp == 0 && kd == 0 ? torque : 0);
    if (length) say(id << 8, reply, length, 1);
}

static void take(const struct canfd_frame *f) {
    switch (protocol) {
    case ODRIVE: odrive(f); break;
    case GM6020: case GM6020_VOLTAGE: gm6020(f); break;
    case MIT: mit(f); break;
    case CYBERGEAR: cybergear(f); break;
    case MOTEUS: moteus(f); break;
    }
}

static int open_can(const char *interface) {
    int on = 1, fd = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK, CAN_RAW);
    struct sockaddr_can address = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(interface)};
    if (fd < 0 || setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) < 0
        || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        perror(interface);
        exit(1);
    }
    return fd;
}

// Only commands to this drive, so that the others' answers do not wake it.
static void filter(void) {
    struct can_filter one = {id, CAN_SFF_MASK}, two[2] = {one, {0x7FF, CAN_SFF_MASK}};
    if (protocol == MIT) {
        setsockopt(can, SOL_CAN_RAW, CAN_RAW_FILTER, two, sizeof two);
        return;
    }
    if (protocol == ODRIVE) one = (struct can_filter){id << 5, 0x7E0};
    if (protocol == GM6020 || protocol == GM6020_VOLTAGE) one = (struct can_filter){0x1FE, 0x4FE};
    if (protocol == CYBERGEAR) one = (struct can_filter){CAN_EFF_FLAG | id, CAN_EFF_FLAG | 0xFF};
    if (protocol == MOTEUS) one = (struct can_filter){CAN_EFF_FLAG | 0x8000 | id, CAN_EFF_FLAG | 0x80FF};
    setsockopt(can, SOL_CAN_RAW, CAN_RAW_FILTER, &one, sizeof one);
}

static void drive(const char *interface) {
    can = open_can(interface);
    filter();
    int64_t beat = 0, spoken = 0, last = now_ns();
    for (;;) {
        struct pollfd waits[2] = {{.fd = can, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        poll(waits, 2, 1);
        if (waits[1].revents) listen_to(drive_line);
        struct canfd_frame frame;
        while (read(can, &frame, sizeof frame) > 0)
            if (!is_silent) take(&frame);
        int64_t now = now_ns();
        double dt = (now - last) * 1e-9;
        last = now;
        if (is_on && protocol != GM6020 && protocol != GM6020_VOLTAGE && watchdog > 0 && now - fed > watchdog)
            fail(protocol == ODRIVE ? 0x1000000 : protocol == MIT ? 13 : protocol == MOTEUS ? 0x100 : 1);
        applied += dt / (0.0005 + dt) * (wanted - applied);
        joint->torque = is_on ? applied : 0;
        if (protocol == ODRIVE && now - beat > 100000000) {
            unsigned char data[8] = {fault, fault >> 8, fault >> 16, fault >> 24, is_on ? 8 : 1};
            beat = now;
            say(id << 5 | 1, data, 8, 0);
        }
        if ((protocol == GM6020 || protocol == GM6020_VOLTAGE) && now - spoken >= 1000000) {
            spoken = now - spoken > 5000000 ? now : spoken + 1000000;
            gm6020_feedback();
        }
    }
}

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
    if (count > 7) watchdog = (int64_t)(atof(arguments[7]) * 1e6);
    if (protocol == MIT) watchdog = 0;
    drive(arguments[3]);
}
