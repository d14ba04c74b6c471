// A gimbal with three servos between a PCA9685, or the first channels of a PWM chip, and sensors that are those of the lab's
// kernel module: turns the pulses that the controller writes into the rates and forces that it reads. In C, because the lab
// is emulated.
//
//   plant FOLDER FRAME_HZ bmi088|icm42688p [pwm]
//
// The second layout has an ICM-42688-P on the camera, whose data-ready line is GPIO 5, and an MPU-6050 on the handle.
// Commands on standard input: `amplitude DEGREES` (how far the handle swings), `frozen 0|1` (whether the sensor's registers
// stand still), `edges 0|1` (whether the data-ready line moves). On standard output, every 20 ms: time, whether pulses come, handle and camera as roll and pitch in degrees.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GRAVITY 9.80665
#define SERVO_LAG 0.02
#define STEP 0.002

typedef struct { double m[3][3]; } rotation;

static int accelerometer, gyroscope, servos, icm, mpu, gpio, pwm = -1;
static double frame_hz, amplitude;
static int is_frozen, has_icm, has_edges = 1;

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

static double roll_of(rotation r) { return asin(fmax(-1, fmin(1, r.m[2][1]))) * 180 / M_PI; }
static double pitch_of(rotation r) { return atan2(-r.m[2][0], r.m[2][2]) * 180 / M_PI; }

static int chip(const char *folder, int address) {
    char path[256];
    snprintf(path, sizeof path, "%s/i2c-0x%02x/regs", folder, address);
    int fd = open(path, O_RDWR);
    if (fd < 0) { perror(path); exit(1); }
    return fd;
}

static void put(int fd, int reg, const void *bytes, int count) {
    if (pwrite(fd, bytes, count, reg) != count) { perror("pwrite"); exit(1); }
}

static void get(int fd, int reg, void *bytes, int count) {
    if (pread(fd, bytes, count, reg) != count) { perror("pread"); exit(1); }
}

static double angle_of(double pulse) { return (pulse - 1.5e-3) / 1e-3 * M_PI / 2; }

// The same at the PWM chip, a line of text for each channel.
static int read_pwm(double joints[3]) {
    char text[1024], *line = text;
    ssize_t got = pread(pwm, text, sizeof text - 1, 0);
    if (got < 0) { perror("pread"); exit(1); }
    text[got] = 0;
    for (int i = 0; i < 3; i++) {
        int enabled = 0;
        long long duty = 0;
        if (!line || sscanf(line, "%d %*s %*d %lld", &enabled, &duty) != 2 || !enabled || duty == 0) return 0;
        joints[i] = angle_of(duty * 1e-9);
        line = strchr(line, '\n');
        if (line) line++;
    }
    return 1;
}

// Joint angles that the pulses stand for; 0 when there are none.
static int read_pulses(double joints[3]) {
    if (pwm >= 0) return read_pwm(joints);
    unsigned char all_off, off = 0x10, none = 0, out[12];
    get(servos, 0xFD, &all_off, 1);
    if (all_off & 0x10) {
        // The real chip copies what is written to ALL_LED_OFF_H into every output; a register file does not.
        for (int i = 0; i < 16; i++) put(servos, 0x09 + 4 * i, &off, 1);
        put(servos, 0xFD, &none, 1);
    }
    get(servos, 0x06, out, sizeof out);
    for (int i = 0; i < 3; i++) {
        if (out[4 * i + 3] & 0x10) return 0;
        double pulse = (out[4 * i + 2] | out[4 * i + 3] << 8) / 4096.0 / frame_hz;
        joints[i] = angle_of(pulse);
    }
    return 1;
}

static void word(unsigned char *to, double value) {
    // Noise of some counts: a sensor that repeats itself to the bit is taken for dead.
    value += (rand() % 9 - 4);
    int n = (int)lround(fmax(-32768, fmin(32767, value)));
    to[0] = n & 0xFF;
    to[1] = n >> 8 & 0xFF;
}

static void rate_of(rotation before, rotation now, double dt, double rate[3]) {
    rotation turn = times(inverse(before), now);
    rate[0] = (turn.m[2][1] - turn.m[1][2]) / 2 / dt;
    rate[1] = (turn.m[0][2] - turn.m[2][0]) / 2 / dt;
    rate[2] = (turn.m[1][0] - turn.m[0][1]) / 2 / dt;
}

static void big_endian(unsigned char *to, double value) {
    unsigned char low;
    word(to, value);
    low = to[0];
    to[0] = to[1];
    to[1] = low;
}

// At 16 g and 2000 deg/s: force and rate in InvenSense's order, temperature between or before them.
static void write_invensense(int fd, int is_icm, rotation before, rotation now, double dt) {
    double rate[3];
    unsigned char bytes[14] = {0}, ready = is_icm ? 0x08 : 0x01;
    int force_at = is_icm ? 2 : 0;
    rate_of(before, now, dt, rate);
    for (int i = 0; i < 3; i++) {
        big_endian(bytes + force_at + 2 * i, -now.m[2][i] * 32768 / 16);
        big_endian(bytes + 8 + 2 * i, rate[i] * 32768 / (2000 * M_PI / 180));
    }
    put(fd, is_icm ? 0x1D : 0x3B, bytes, sizeof bytes);
    put(fd, is_icm ? 0x2D : 0x3A, &ready, 1);
}

static void pulse_data_ready(void) {
    unsigned char high = 1, low = 0;
    put(gpio, 5, &high, 1);
    put(gpio, 5, &low, 1);
}

static void write_sensor(rotation before, rotation now, double dt, unsigned counter) {
    double rate[3];
    rate_of(before, now, dt, rate);
    unsigned char bytes[9];
    for (int i = 0; i < 3; i++) word(bytes + 2 * i, -now.m[2][i] * 32768 / 24);
    for (int i = 0; i < 3; i++) bytes[6 + i] = counter >> (8 * i) & 0xFF;
    put(accelerometer, 0x12, bytes, 9);
    for (int i = 0; i < 3; i++) word(bytes + 2 * i, rate[i] * 32767 / (2000 * M_PI / 180));
    put(gyroscope, 0x02, bytes, 6);
}

static void listen(void) {
    static char line[256];
    static size_t used;
    ssize_t got = read(0, line + used, sizeof line - 1 - used);
    if (got == 0) exit(0);
    if (got < 0) return;
    used += got;
    line[used] = 0;
    for (char *end; (end = strchr(line, '\n')); used = strlen(line)) {
        sscanf(line, "amplitude %lf", &amplitude);
        sscanf(line, "frozen %d", &is_frozen);
        sscanf(line, "edges %d", &has_edges);
        memmove(line, end + 1, strlen(end + 1) + 1);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    if (count < 4 || count > 5) return 2;
    has_icm = strcmp(arguments[3], "icm42688p") == 0;
    if (has_icm) {
        char path[256];
        unsigned char icm_id = 0x47, mpu_id = 0x68;
        icm = chip(arguments[1], 0x68);
        mpu = chip(arguments[1], 0x69);
        snprintf(path, sizeof path, "%s/gpio", arguments[1]);
        gpio = open(path, O_RDWR);
        if (gpio < 0) { perror(path); return 1; }
        put(icm, 0x75, &icm_id, 1);
        put(mpu, 0x75, &mpu_id, 1);
    } else {
        unsigned char accelerometer_id = 0x1E, gyroscope_id = 0x0F;
        accelerometer = chip(arguments[1], 0x18);
        gyroscope = chip(arguments[1], 0x68);
        put(accelerometer, 0x00, &accelerometer_id, 1);
        put(gyroscope, 0x00, &gyroscope_id, 1);
    }
    servos = chip(arguments[1], 0x40);
    frame_hz = atof(arguments[2]);
    if (count == 5) {
        char path[256];
        snprintf(path, sizeof path, "%s/pwm", arguments[1]);
        if ((pwm = open(path, O_RDONLY)) < 0) { perror(path); return 1; }
    }
    unsigned char off = 0x10;
    put(servos, 0xFD, &off, 1);
    fcntl(0, F_SETFL, O_NONBLOCK);

    double joints[3] = {0}, wanted[3] = {0}, began = seconds(), last = began, shown = 0, swing = 0;
    rotation before = from_angles(0, 0, 0), handle_before = before;
    unsigned counter = 0;
    for (;;) {
        double now = seconds(), dt = fmax(now - last, 1e-4);
        last = now;
        listen();
        int driven = read_pulses(wanted);
        for (int i = 0; driven && i < 3; i++) joints[i] += dt / (SERVO_LAG + dt) * (wanted[i] - joints[i]);
        swing += dt / (1 + dt) * (amplitude * M_PI / 180 - swing);
        double t = now - began;
        rotation handle = from_angles(0, swing * sin(2 * M_PI * 0.1 * t), swing * sin(2 * M_PI * 0.13 * t));
        rotation camera = times(handle, from_angles(joints[0], joints[1], joints[2]));
        if (!is_frozen && has_icm) {
            write_invensense(icm, 1, before, camera, dt);
            write_invensense(mpu, 0, handle_before, handle, dt);
            if (has_edges) pulse_data_ready();
        } else if (!is_frozen) {
            write_sensor(before, camera, dt, counter += (unsigned)(dt / 39.0625e-6) + 1);
        }
        before = camera;
        handle_before = handle;
        if (t - shown >= 0.02) {
            shown = t;
            printf("%.4f %d %.3f %.3f %.3f %.3f\n", t, driven, roll_of(handle), pitch_of(handle), roll_of(camera),
                   pitch_of(camera));
            fflush(stdout);
        }
        struct timespec pause = {0, (long)(STEP * 1e9)};
        nanosleep(&pause, NULL);
    }
}
