// Models of the drives' protocols for drives.c. A drive applies its torque with a lag of 0.5 ms, and measures the joint with 14
// bits, noise and a delay of 1 ms. It stops when it gets no command for the time of its watchdog. airframed sets the watchdogs over
// the bus: they are off at the start, and after a loss of the supply. A GM6020 has no watchdog. Only drives.c includes this file.

#pragma once

#include "bmi088.h"

enum protocol { ODRIVE, GM6020, GM6020_VOLTAGE, MIT, CYBERGEAR, MOTEUS };
static const char *names[] = {"odrive", "gm6020", "gm6020_voltage", "mit", "cybergear", "moteus"};

static int can = -1;
static enum protocol protocol;
static uint32_t id;
static struct joint *joint;
static double wanted, applied;
static int is_on, is_torque_mode, is_silent;
static uint32_t fault;
// Time of the watchdog, ns; 0 means that it is off.
static int64_t watchdog, fed;
static float odrive_timeout;
// Endpoints of the modelled ODrive's watchdog. The numbers are not those of a published firmware.
enum { TIMEOUT_ENDPOINT = 214, ENABLE_ENDPOINT = 215 };

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
        watchdog = 0;
        odrive_timeout = 0;
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

// RxSdo of firmware 0.6: operation (0 reads, 1 writes), number of the endpoint, a reserved byte, and the value. A Boolean is one byte.
static void odrive_sdo(const struct canfd_frame *f) {
    int endpoint = f->data[1] | f->data[2] << 8, is_write = f->len > 4 && f->data[0] == 1;
    unsigned char reply[8] = {0, f->data[1], f->data[2], 0};
    if (f->len < 4 || (endpoint != TIMEOUT_ENDPOINT && endpoint != ENABLE_ENDPOINT)) return;
    if (is_write && endpoint == TIMEOUT_ENDPOINT && f->len == 8) {
        memcpy(&odrive_timeout, f->data + 4, 4);
        if (watchdog) watchdog = (int64_t)(odrive_timeout * 1e9);
    }
    if (is_write && endpoint == ENABLE_ENDPOINT && f->len == 5) watchdog = f->data[4] ? (int64_t)(odrive_timeout * 1e9) : 0;
    if (endpoint == TIMEOUT_ENDPOINT) memcpy(reply + 4, &odrive_timeout, 4);
    else reply[4] = watchdog != 0;
    if (!is_write) say(id << 5 | 0x05, reply, endpoint == TIMEOUT_ENDPOINT ? 8 : 5, 0);
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
    } else if (number == 0x04) {
        odrive_sdo(f);
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

// Mode of a Damiao drive: 1 obeys torques. Another program has left the drive in the mode for speeds.
static uint32_t damiao_mode = 3;

// Damiao's registers; only TIMEOUT (9), in units of 50 us, and the mode (10) exist.
static void damiao_register(const struct canfd_frame *f) {
    const unsigned char *d = f->data;
    if (f->len != 8 || d[0] != id || d[1] != 0 || (d[3] != 9 && d[3] != 10) || (d[2] != 0x33 && d[2] != 0x55)) return;
    uint32_t value = d[3] == 9 ? (uint32_t)(watchdog / 50000) : damiao_mode;
    if (d[2] == 0x55) {
        memcpy(&value, d + 4, 4);
        if (d[3] == 9) watchdog = value * 50000LL;
        else damiao_mode = value;
    }
    unsigned char data[8] = {id, 0, d[2], d[3]};
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
    else if (damiao_mode == 1) command(decode((d[6] & 15) << 8 | d[7], 10, 12));
    unsigned char data[8];
    uint32_t rate = encode(joint->rate, 30, 12), torque = encode(applied, 10, 12);
    data[0] = id | (fault ? fault : (uint32_t)is_on) << 4;
    big(data + 1, encode(measured() * 2 * M_PI, 12.5, 16));
    data[3] = rate >> 4, data[4] = rate << 4 | torque >> 8, data[5] = torque, data[6] = 33, data[7] = 37;
    say(0x11, data, 8, 0);
}

// Parameter CAN_TIMEOUT (0x200C) of a CyberGear, in units of 50 us: type 8 writes it while the motor is off, type 9 reads it.
static void cybergear_timeout(uint32_t type, const unsigned char *d) {
    if (d[0] != 0x0C || d[1] != 0x20) return;
    uint32_t value = (uint32_t)(watchdog / 50000);
    if (type == 8) {
        memcpy(&value, d + 4, 4);
        if (d[2] == 4 && !is_on && value <= 100000) watchdog = value * 50000LL;
        return;
    }
    unsigned char data[8] = {0x0C, 0x20, 4, 0};
    memcpy(data + 4, &value, 4);
    say(CAN_EFF_FLAG | 9u << 24 | id << 8 | 0x7D, data, 8, 0);
}

// After its start, the drive is in the mode that another program has left: speed (2).
static void cybergear(const struct canfd_frame *f) {
    static int run_mode = 2;
    if (!(f->can_id & CAN_EFF_FLAG) || (f->can_id & 0xFF) != id || f->len != 8) return;
    uint32_t type = f->can_id >> 24 & 31;
    fed = now_ns();
    if (type == 8 || type == 9) return cybergear_timeout(type, f->data);
    if (type == 18 && f->data[0] == 0x05 && f->data[1] == 0x70 && !is_on) run_mode = f->data[4];
    if (type == 3) switch_on();
    if (type == 4) {
        switch_off();
        if (f->data[0] == 1) fault = 0;
    }
    if (type == 1 && run_mode == 0) command(decode(f->can_id >> 8 & 0xFFFF, 12, 16));
    unsigned char data[8];
    big(data, encode(measured() * 2 * M_PI, 12.5, 16));
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
