// A gimbal with three servos between a PCA9685, or the first channels of a PWM chip, and sensors that are those of the lab's
// kernel module: turns the pulses that the controller writes into the rates and forces that it reads. In C, because the lab
// is emulated.
//
//   plant FOLDER FRAME_HZ bmi088|icm42688p|mpu6050|mpu6500|mpu9250|iio [WORD...]
//
// iio: the sensors of the lab's module airframe_iio. An MPU-9250's magnetometer feels 20 µT to the north and 45 µT down. An ICM-42688-P has its data-ready line at GPIO 5. Words: `spi`: the sensor is at the chip selects 0 (and 1); `fifo`: an
// ICM-42688-P also fills its buffer, by a clock that is 2 % slow; `handle`: an MPU-6050 on the handle; `encoders`: an AS5600 at
// each joint, on the buses 11 to 13; `pwm`: the servos are at the PWM chip.
// Commands on standard input: `amplitude DEGREES` (how far the handle swings), `frozen 0|1` (whether the sensor's registers
// stand still), `edges 0|1` (whether the data-ready line moves). On standard output, every 20 ms: time, whether pulses come,
// handle and camera as roll and pitch in degrees, joints as yaw, roll and pitch.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rotation.h"

#define GRAVITY 9.80665
#define SERVO_LAG 0.02
#define STEP 0.002

// The slow clock of the sensor's buffer, s.
#define BUFFER_PERIOD 1.02e-3

static int accelerometer, gyroscope, icm = -1, mpu = -1, handle_mpu = -1, has_magnetometer, fifo = -1, iio = -1, encoders[3] = {-1}, servos = -1, gpio, pwm = -1;
static double frame_hz, amplitude;
static int is_frozen, has_edges = 1;

static double roll_of(rotation r) { return asin(fmax(-1, fmin(1, r.m[2][1]))) * 180 / M_PI; }
static double pitch_of(rotation r) { return atan2(-r.m[2][0], r.m[2][2]) * 180 / M_PI; }

static int file(const char *folder, const char *name, int flags) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, flags);
    if (fd < 0) { perror(path); exit(1); }
    return fd;
}

static int chip(const char *folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/regs", name);
    return file(folder, path, O_RDWR);
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
static void invensense(unsigned char *force, unsigned char *turn, const double rate[3], rotation now) {
    for (int i = 0; i < 3; i++) {
        big_endian(force + 2 * i, -now.m[2][i] * 32768 / 16);
        big_endian(turn + 2 * i, rate[i] * 32768 / (2000 * M_PI / 180));
    }
}

// Registers that an MPU-9250's master has read from its AK8963: ST1, three words with the lower byte first at 0.15 µT, ST2 (16 bits).
// The magnetometer's x and y are the other chip's y and x, its z points up.
static void write_field(rotation now) {
    unsigned char bytes[8] = {0x01, [7] = 0x10};
    double field[3];
    for (int i = 0; i < 3; i++) field[i] = now.m[0][i] * 20 + now.m[2][i] * 45;
    word(bytes + 1, field[1] / 0.15);
    word(bytes + 3, field[0] / 0.15);
    word(bytes + 5, -field[2] / 0.15);
    put(mpu, 0x49, bytes, sizeof bytes);
}

// The AK8963's answer to the newest request of an MPU-9250's master: CNTL1 is the byte that the master has written last; its identity
// is the answer to every other request, also for its sensitivity: 0.78.
static void answer_master(void) {
    unsigned char slave[2], id = 0x48;
    get(mpu, 0x32, slave, sizeof slave);
    put(mpu, 0x35, slave[0] == 0x0A ? &slave[1] : &id, 1);
}

static void write_invensense(int fd, int is_icm, rotation before, rotation now, double dt) {
    double rate[3];
    unsigned char bytes[14] = {0}, ready = is_icm ? 0x08 : 0x01;
    rate_of(before, now, dt, rate);
    invensense(bytes + (is_icm ? 2 : 0), bytes + 8, rate, now);
    put(fd, is_icm ? 0x1D : 0x3B, bytes, sizeof bytes);
    put(fd, is_icm ? 0x2D : 0x3A, &ready, 1);
}

// A packet of an ICM-42688-P for each period of its own clock that has passed.
static void fill_buffer(rotation before, rotation now, double dt, double t) {
    static long long packets;
    double rate[3];
    unsigned char packet[16] = {0x68};
    rate_of(before, now, dt, rate);
    for (; packets < (long long)(t / BUFFER_PERIOD); packets++) {
        invensense(packet + 1, packet + 7, rate, now);
        if (!is_frozen && write(fifo, packet, sizeof packet) != sizeof packet) { perror("fifo"); exit(1); }
    }
}

// Rates in µrad/s and forces in µm/s²; the module measures them at its own times.
static void write_iio(rotation before, rotation now, double dt) {
    double rate[3];
    int32_t motion[6];
    rate_of(before, now, dt, rate);
    for (int i = 0; i < 3; i++) {
        motion[i] = (int32_t)lround(rate[i] * 1e6);
        motion[3 + i] = (int32_t)lround(-now.m[2][i] * GRAVITY * 1e6);
    }
    if (write(iio, motion, sizeof motion) != sizeof motion) { perror("motion"); exit(1); }
}

// STATUS with a magnet, RAW ANGLE.
static void write_encoders(const double joints[3]) {
    for (int i = 0; i < 3; i++) {
        int counts = (int)lround(joints[i] * 4096 / (2 * M_PI)) & 0xFFF;
        unsigned char bytes[3] = {0x20, counts >> 8, counts & 0xFF};
        put(encoders[i], 0x0B, bytes, 3);
    }
}

static void pulse_data_ready(void) {
    unsigned char high = 1, low = 0;
    put(gpio, 5, &high, 1);
    put(gpio, 5, &low, 1);
}

static void write_sensor(rotation before, rotation now, double dt, unsigned counter) {
    double rate[3];
    rate_of(before, now, dt, rate);
    unsigned char bytes[9] = {0}, power;
    get(accelerometer, 0x7D, &power, 1);
    // After a reset it measures nothing until it is turned on, and counts from zero.
    for (int i = 0; power && i < 3; i++) word(bytes + 2 * i, -now.m[2][i] * 32768 / 24);
    for (int i = 0; power && i < 3; i++) bytes[6 + i] = counter >> (8 * i) & 0xFF;
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

static void open_chips(const char *folder, const char *sensor, int count, char **words) {
    unsigned char icm_id = 0x47, mpu_id = 0x68, magnetometer_id = 0x48, accelerometer_id = 0x1E, gyroscope_id = 0x0F;
    int has_spi = 0;
    for (int i = 0; i < count; i++) has_spi |= strcmp(words[i], "spi") == 0;
    if (strncmp(sensor, "mpu", 3) == 0) {
        unsigned char id = strcmp(sensor, "mpu6050") == 0 ? 0x68 : strcmp(sensor, "mpu6500") == 0 ? 0x70 : 0x71;
        put(mpu = chip(folder, has_spi ? "spi-0" : "i2c-0x68"), 0x75, &id, 1);
        has_magnetometer = id == 0x71;
        if (has_magnetometer) put(mpu, 0x35, &magnetometer_id, 1);
    } else if (strcmp(sensor, "icm42688p") == 0) {
        icm = chip(folder, has_spi ? "spi-0" : "i2c-0x68");
        gpio = file(folder, "gpio", O_RDWR);
        put(icm, 0x75, &icm_id, 1);
    } else if (strcmp(sensor, "iio") == 0) {
        iio = file(folder, "../airframe_iio/motion", O_WRONLY);
    } else {
        accelerometer = chip(folder, has_spi ? "spi-0" : "i2c-0x18");
        gyroscope = chip(folder, has_spi ? "spi-1" : "i2c-0x68");
        put(accelerometer, 0x00, &accelerometer_id, 1);
        put(gyroscope, 0x00, &gyroscope_id, 1);
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "fifo") == 0) fifo = file(folder, has_spi ? "spi-0/fifo" : "i2c-0x68/fifo", O_WRONLY);
        if (strcmp(words[i], "handle") == 0) put(handle_mpu = chip(folder, "i2c-0x69"), 0x75, &mpu_id, 1);
        if (strcmp(words[i], "pwm") == 0) pwm = file(folder, "pwm", O_RDONLY);
        if (strcmp(words[i], "encoders") == 0) {
            encoders[0] = chip(folder, "i2c-0xb36");
            encoders[1] = chip(folder, "i2c-0xc36");
            encoders[2] = chip(folder, "i2c-0xd36");
        }
    }
    if (pwm < 0) servos = chip(folder, "i2c-0x40");
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    frame_hz = atof(arguments[2]);
    open_chips(arguments[1], arguments[3], count - 4, arguments + 4);
    unsigned char off = 0x10;
    if (servos >= 0) put(servos, 0xFD, &off, 1);
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
        if (!is_frozen && icm >= 0) {
            write_invensense(icm, 1, before, camera, dt);
            if (has_edges) pulse_data_ready();
        } else if (!is_frozen && mpu >= 0) {
            write_invensense(mpu, 0, before, camera, dt);
            if (has_magnetometer) {
                write_field(camera);
                answer_master();
            }
        } else if (iio >= 0) {
            write_iio(before, camera, dt);
        } else if (!is_frozen) {
            write_sensor(before, camera, dt, counter += (unsigned)(dt / 39.0625e-6) + 1);
        }
        if (!is_frozen && handle_mpu >= 0) write_invensense(handle_mpu, 0, handle_before, handle, dt);
        if (fifo >= 0) fill_buffer(before, camera, dt, t);
        if (encoders[0] >= 0) write_encoders(joints);
        before = camera;
        handle_before = handle;
        if (t - shown >= 0.02) {
            shown = t;
            printf("%.4f %d %.3f %.3f %.3f %.3f %.3f %.3f %.3f\n", t, driven, roll_of(handle), pitch_of(handle),
                   roll_of(camera), pitch_of(camera), joints[0] * 180 / M_PI, joints[1] * 180 / M_PI, joints[2] * 180 / M_PI);
            fflush(stdout);
        }
        struct timespec pause = {0, (long)(STEP * 1e9)};
        nanosleep(&pause, NULL);
    }
}
