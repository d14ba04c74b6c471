#include "MotorModels.h"

#include "airframe_board.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

const double turn = 2 * M_PI;

double drawn(mm_model *m) {
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) / 16777216.0;
}

// A byte, changed with this probability.
uint8_t passed(mm_model *m, uint8_t byte, double damaged, int64_t *count) {
    if (!(damaged > 0) || drawn(m) >= damaged) return byte;
    ++*count;
    return (uint8_t)(byte ^ (uint8_t)(1 + drawn(m) * 254));
}

void say(mm_model *m, const uint8_t *bytes, int count) {
    if (m->out_count + count > (int)sizeof m->out) return;
    memcpy(m->out + m->out_count, bytes, count);
    m->out_count += count;
}

mm_motor *motor_of(mm_model *m, int id, int *index) {
    for (int i = 0; i < m->count; i++)
        if (m->motors[i].id == id) return *index = i, &m->motors[i];
    return nullptr;
}

void switched(mm_motor *motor, bool on, int64_t now) {
    if (motor->is_on && !on) motor->off_at = now;
    motor->is_on = on;
}

void put16(uint8_t *to, int value) { to[0] = (uint8_t)value, to[1] = (uint8_t)(value >> 8); }
void put32(uint8_t *to, int32_t value) { put16(to, value), put16(to + 2, value >> 16); }
int get16(const uint8_t *from) { return from[0] | from[1] << 8; }
int32_t get32(const uint8_t *from) { return (int32_t)((uint32_t)get16(from) | (uint32_t)get16(from + 2) << 16); }
int steps(double angle) { return (int)floor(angle / turn * 4096 + 0.5); }
int with_sign(int value, int bit) { return value < 0 ? -value | 1 << bit : value; }

// ---- Feetech

uint8_t sum(const uint8_t *bytes, int count) {
    uint8_t total = 0;
    for (int i = 0; i < count; i++) total = (uint8_t)(total + bytes[i]);
    return (uint8_t)~total;
}

void feetech_reply(mm_model *m, const mm_motor *motor, const uint8_t *data, int count) {
    uint8_t packet[300] = {0xFF, 0xFF, (uint8_t)motor->id, (uint8_t)(count + 2), (uint8_t)motor->fault};
    memcpy(packet + 5, data, count);
    packet[5 + count] = sum(packet + 2, count + 3);
    if (!motor->is_silent) say(m, packet, count + 6);
}

void feetech_measure(mm_motor *motor, uint8_t *table) {
    table[40] = (uint8_t)motor->is_on;
    put16(table + 56, with_sign(steps(motor->angle), 15));
    put16(table + 58, with_sign((int)(motor->rate / turn * 4096), 15));
    put16(table + 60, with_sign((int)(100 * motor->rate), 10));
    table[62] = (uint8_t)(motor->voltage * 10 + 0.5);
    table[63] = (uint8_t)motor->temperature;
    table[65] = (uint8_t)motor->fault;
}

void feetech_write(mm_motor *motor, uint8_t *table, int at, const uint8_t *data, int count, int64_t now) {
    if (at + count > 256) return;
    bool is_locked = table[55] != 0;
    // A locked servo uses another mode (33) until its supply is off.
    for (int i = 0; i < count; i++)
        if (at + i >= 40 || at + i == 33 || !is_locked) table[at + i] = data[i];
    if (at <= 40 && at + count > 40) {
        if (table[40] == 0) motor->fault &= ~0x20;
        switched(motor, table[40] == 1 && motor->fault == 0, now);
    }
    if (at <= 42 && at + count > 43) {
        // In the mode for steps, the goal is relative.
        motor->goal = (table[33] == 3 ? motor->angle : 0) + get16(table + 42) / 4096.0 * turn;
        motor->goals++;
    }
    motor->id = table[5];
}

// Returns the number of bytes that were used; 0 if the packet is incomplete.
int feetech(mm_model *m, int64_t now) {
    const uint8_t *in = m->in;
    if (in[0] != 0xFF) return 1;
    if (m->in_count < 4) return 0;
    int length = in[3], whole = length + 4;
    if (in[1] != 0xFF || length < 2 || length > 200) return 1;
    if (m->in_count < whole) return 0;
    if (in[whole - 1] != sum(in + 2, length + 1)) return 1;
    int id = in[2], instruction = in[4], index = 0;
    const uint8_t *data = in + 5;
    int count = length - 2;
    if (instruction == 0x83 && count >= 2) {
        for (int at = 2, size = data[1]; at + 1 + size <= count; at += 1 + size)
            if (mm_motor *motor = motor_of(m, data[at], &index))
                if (!motor->is_silent) feetech_write(motor, m->memory[index], data[0], data + at + 1, size, now);
    } else if (instruction == 0x82 && count >= 2) {
        m->requests++;
        m->last_request = now;
        for (int at = 2; at < count; at++)
            if (mm_motor *motor = motor_of(m, data[at], &index)) {
                feetech_measure(motor, m->memory[index]);
                feetech_reply(m, motor, m->memory[index] + data[0], data[1]);
            }
    } else if (mm_motor *motor = motor_of(m, id, &index)) {
        uint8_t *table = m->memory[index];
        feetech_measure(motor, table);
        if (instruction == 0x01) feetech_reply(m, motor, nullptr, 0);
        if (instruction == 0x02 && count == 2 && data[0] + data[1] <= 256) feetech_reply(m, motor, table + data[0], data[1]);
        if (instruction == 0x03 && count >= 1) {
            feetech_write(motor, table, data[0], data + 1, count - 1, now);
            feetech_reply(m, motor, nullptr, 0);
        }
    }
    return whole;
}

// ---- Dynamixel

uint16_t crc(const uint8_t *bytes, int count) {
    uint16_t value = 0;
    for (int i = 0; i < count; i++) {
        value = (uint16_t)(value ^ bytes[i] << 8);
        for (int bit = 0; bit < 8; bit++) value = (uint16_t)(value & 0x8000 ? value << 1 ^ 0x8005 : value << 1);
    }
    return value;
}

void dynamixel_reply(mm_model *m, const mm_motor *motor, const uint8_t *data, int count) {
    uint8_t packet[400] = {0xFF, 0xFF, 0xFD, 0, (uint8_t)motor->id, 0, 0, 0x55, (uint8_t)(motor->fault ? 0x80 : 0)};
    int at = 9;
    for (int i = 0; i < count; i++) {
        packet[at++] = data[i];
        // Byte stuffing: the header must not appear in the data.
        if (packet[at - 1] == 0xFD && packet[at - 2] == 0xFF && packet[at - 3] == 0xFF) packet[at++] = 0xFD;
    }
    put16(packet + 5, at - 7 + 2);
    put16(packet + at, crc(packet, at));
    if (!motor->is_silent) say(m, packet, at + 2);
}

void dynamixel_measure(mm_motor *motor, uint8_t *table) {
    table[64] = (uint8_t)motor->is_on;
    table[70] = (uint8_t)motor->fault;
    put16(table + 126, (int)lround(motor->torque * 1000));
    put32(table + 128, (int32_t)lround(motor->rate / (0.229 * turn / 60)));
    put32(table + 132, steps(motor->angle));
    put16(table + 144, (int)lround(motor->voltage * 10));
    table[146] = (uint8_t)motor->temperature;
}

void dynamixel_write(mm_motor *motor, uint8_t *table, int at, const uint8_t *data, int count, int64_t now) {
    // The permanent memory is locked while the motor is on.
    if (at < 64 && motor->is_on) return;
    // A watchdog that has expired refuses goals.
    if (at >= 100 && table[98] == 0xFF) return;
    // A goal current beyond the current limit is refused.
    if (at == 102 && count >= 2 && abs((int16_t)get16(data)) > get16(table + 38)) return;
    if (at + count > 256) return;
    memcpy(table + at, data, count);
    if (at == 64) switched(motor, table[64] == 1 && motor->fault == 0, now);
    if (at == 116) motor->goal = get32(table + 116) / 4096.0 * turn, motor->goals++;
    if (at == 102) motor->torque = (int16_t)get16(table + 102) / 1000.0, motor->goals++;
    motor->id = table[7];
}

int dynamixel(mm_model *m, int64_t now) {
    uint8_t in[512];
    memcpy(in, m->in, sizeof in);
    if (in[0] != 0xFF) return 1;
    if (m->in_count < 7) return 0;
    int length = get16(in + 5), whole = length + 7, index = 0;
    if (in[1] != 0xFF || in[2] != 0xFD || in[3] != 0 || length < 3 || length > 400) return 1;
    if (m->in_count < whole) return 0;
    if (get16(in + whole - 2) != crc(in, whole - 2)) return 1;
    uint8_t data[512];
    int count = 0;
    for (int at = 8; at < whole - 2; at++) {
        data[count++] = in[at];
        if (in[at] == 0xFD && in[at - 1] == 0xFF && in[at - 2] == 0xFF) at++;
    }
    int id = in[4], instruction = in[7];
    if (instruction == 0x83 && count >= 4) {
        for (int at = 4, size = get16(data + 2); at + 1 + size <= count; at += 1 + size)
            if (mm_motor *motor = motor_of(m, data[at], &index))
                if (!motor->is_silent)
                    dynamixel_write(motor, m->memory[index], get16(data), data + at + 1, size, now);
    } else if (instruction == 0x82 && count >= 4 && get16(data) + get16(data + 2) <= 256) {
        m->requests++;
        m->last_request = now;
        for (int at = 4; at < count; at++)
            if (mm_motor *motor = motor_of(m, data[at], &index)) {
                dynamixel_measure(motor, m->memory[index]);
                dynamixel_reply(m, motor, m->memory[index] + get16(data), get16(data + 2));
            }
    } else if (mm_motor *motor = motor_of(m, id, &index)) {
        uint8_t *table = m->memory[index];
        dynamixel_measure(motor, table);
        if (instruction == 0x02 && count == 4 && get16(data) + get16(data + 2) <= 256)
            dynamixel_reply(m, motor, table + get16(data), get16(data + 2));
        if (instruction == 0x03 && count >= 2) {
            dynamixel_write(motor, table, get16(data), data + 2, count - 2, now);
            dynamixel_reply(m, motor, nullptr, 0);
        }
        if (instruction == 0x08) {
            motor->fault = 0;
            switched(motor, false, now);
            dynamixel_reply(m, motor, nullptr, 0);
            if (m->restart_seconds > 0) {
                motor->is_silent = 1;
                motor->restart_end = now + (int64_t)(m->restart_seconds * 1e9);
            }
        }
    }
    return whole;
}

// ---- board: the protocol half of the reference sketch

void board(mm_model *m, uint8_t byte, int64_t now) {
    airframe::Board *board = static_cast<airframe::Board *>(m->board);
    uint32_t microseconds = (uint32_t)(now / 1000);
    if (m->motors[0].is_silent || !board->receive(byte, microseconds)) return;
    m->requests++;
    m->last_request = now;
    board->step((uint16_t)m->board_fault, microseconds);
    airframe::Report report;
    for (int i = 0; i < 3; i++) {
        mm_motor *motor = &m->motors[i];
        switched(motor, board->isOn(), now);
        motor->torque = board->torque(i);
        motor->goals++;
        report.angle[i] = (float)motor->angle;
        report.rate[i] = (float)motor->rate;
        report.current[i] = (float)(motor->torque / 0.1);
    }
    report.supply = (float)m->motors[0].voltage;
    report.temperature = (float)m->motors[0].temperature;
    report.faults = (uint16_t)m->board_fault;
    uint8_t frame[airframe::Board::reportSize];
    say(m, frame, (int)board->compose(report, frame));
}

}  // namespace

int mm_open_line(char *path, int capacity) {
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    if (grantpt(fd) == 0 && unlockpt(fd) == 0 && ptsname_r(fd, path, (size_t)capacity) == 0) return fd;
    close(fd);
    return -1;
}

void mm_begin(mm_model *m, mm_kind kind, int count) {
    memset(m, 0, sizeof *m);
    m->kind = kind;
    m->count = count;
    m->seed = 1;
    if (kind == MM_BOARD) m->board = new airframe::Board();
    for (int i = 0; i < count; i++) {
        mm_motor *motor = &m->motors[i];
        motor->id = i + 1;
        motor->angle = motor->goal = M_PI;
        motor->voltage = 7.4;
        motor->temperature = 31;
        uint8_t *table = m->memory[i];
        if (kind == MM_FEETECH) table[3] = 9, table[4] = 3, table[5] = (uint8_t)motor->id, table[55] = 1;
        if (kind == MM_DYNAMIXEL) {
            put16(table, 1200), table[7] = (uint8_t)motor->id, table[8] = 3, table[9] = 250, table[11] = 3;
            put16(table + 38, 1750);
        }
        if (kind == MM_BOARD) motor->angle = 0;
    }
}

void mm_end(mm_model *m) {
    delete static_cast<airframe::Board *>(m->board);
    m->board = nullptr;
}

void mm_receive(mm_model *m, const uint8_t *bytes, int count, int64_t now) {
    m->received_bytes += count;
    if (m->echoes) say(m, bytes, count);
    if (m->kind == MM_BOARD) {
        for (int i = 0; i < count; i++) board(m, passed(m, bytes[i], m->damaged_commands, &m->damaged_command_bytes), now);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (m->in_count == (int)sizeof m->in) m->in_count = 0;
        m->in[m->in_count++] = passed(m, bytes[i], m->damaged_commands, &m->damaged_command_bytes);
    }
    while (m->in_count > 0) {
        int used = m->kind == MM_FEETECH ? feetech(m, now) : dynamixel(m, now);
        if (used == 0) break;
        m->in_count -= used;
        memmove(m->in, m->in + used, m->in_count);
    }
}

int mm_send(mm_model *m, uint8_t *bytes, int capacity) {
    int count = m->out_count < capacity ? m->out_count : capacity;
    memcpy(bytes, m->out, count);
    m->out_count -= count;
    memmove(m->out, m->out + count, m->out_count);
    for (int i = 0; i < count; i++) bytes[i] = passed(m, bytes[i], m->damaged, &m->damaged_bytes);
    m->sent_bytes += count;
    return count;
}

void mm_move(mm_model *m, double dt, int64_t now) {
    if (m->kind == MM_BOARD) {
        airframe::Board *board = static_cast<airframe::Board *>(m->board);
        board->step((uint16_t)m->board_fault, (uint32_t)(now / 1000));
        for (int i = 0; i < 3; i++) {
            switched(&m->motors[i], board->isOn(), now);
            m->motors[i].torque = board->torque(i);
        }
        return;
    }
    for (int i = 0; i < m->count; i++) {
        mm_motor *motor = &m->motors[i];
        uint8_t *table = m->memory[i];
        if (motor->restart_end && now >= motor->restart_end) motor->is_silent = 0, motor->restart_end = 0;
        if (m->kind == MM_DYNAMIXEL && motor->is_on && table[98] != 0 && table[98] != 0xFF
            && now - m->last_request > table[98] * 20000000LL) {
            table[98] = 0xFF;
            motor->torque = 0;
            motor->goal = motor->angle;
            motor->off_at = now;
        }
        if (motor->fault || motor->is_silent) switched(motor, false, now);
        bool is_current = m->kind == MM_DYNAMIXEL && table[11] == 0;
        if (is_current) {
            if (!motor->is_on) motor->torque = 0;
            continue;
        }
        double error = motor->is_on ? motor->goal - motor->angle : 0;
        motor->rate = fmax(-6, fmin(6, error / (0.02 + dt)));
        motor->angle += motor->rate * dt;
    }
}
