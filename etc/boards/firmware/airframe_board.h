// Protocol of a motor board for airframe: the half that the board's firmware needs, in plain C++11 without a library. The
// specification is etc/manual/motor-board.md. The test suite compiles this file, and runs it against airframed.
#ifndef AIRFRAME_BOARD_H
#define AIRFRAME_BOARD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace airframe {

/// Faults of a report. Bits 0...3 belong to the board, four bits for each motor follow: `motorFault`.
enum BoardFault : uint16_t {
    faultSupply = 1 << 0,    ///< supply voltage outside its range
    faultBoardHot = 1 << 1,  ///< driver or processor too hot
    faultDriver = 1 << 2,    ///< fault pin of a driver
    faultOther = 1 << 3,     ///< any other fault of the board
};

/// Faults of one motor, for `motorFault`.
enum MotorFault : uint16_t {
    faultOverload = 1 << 0,  ///< current too high for too long
    faultMotorHot = 1 << 1,  ///< motor too hot
    faultEncoder = 1 << 2,   ///< encoder does not answer, or has no magnet
    faultMotor = 1 << 3,     ///< any other fault of the motor
};

/// Bits of a report for a fault of motor 0 (yaw), 1 (roll) or 2 (pitch).
inline uint16_t motorFault(int motor, uint16_t fault) { return (uint16_t)(fault << (4 + 4 * motor)); }

/// State of the board and its motors. Angles in rad, not limited to a turn, sent with a resolution of 1/65536 turn; rates in rad/s, sent
/// with a resolution of 0.001 rad/s, at most ±32.767 rad/s; currents in A.
struct Report {
    float angle[3] = {0, 0, 0};
    float rate[3] = {0, 0, 0};
    float current[3] = {0, 0, 0};
    float supply = 0;           ///< V; 0 = not measured
    float temperature = -4000;  ///< °C; below -3000 = not measured
    uint16_t faults = 0;        ///< faults that hold now
};

/// Received commands and composed reports of one serial line. Times are those of a counter of microseconds that may wrap.
class Board {
  public:
    /// Time without a command after which the motors are off, µs.
    static const uint32_t deadManMicroseconds = 20000;
    /// Number of commands after which the board also reports its state.
    static const uint16_t stateInterval = 8;
    /// Size of the longest report, bytes: a frame of the motion, and a frame of the state.
    static const size_t reportSize = 22 + 16;

    /// Takes one received byte. Returns true when a valid command is complete: the board then sends one report.
    bool receive(uint8_t byte, uint32_t nowMicroseconds) {
        if (used_ == sizeof frame_) drop(1);
        frame_[used_++] = byte;
        for (;;) {
            while (used_ > 0 && !(frame_[0] == 0xA5 && (used_ < 2 || frame_[1] == 0x5A))) drop(1);
            if (used_ < commandSize) return false;
            if (frame_[2] != 0x01 || frame_[3] != 15 || little16(frame_ + 19) != crc(frame_ + 2, 17)) {
                damaged_++;
                drop(1);
                continue;
            }
            take(nowMicroseconds);
            drop(commandSize);
            return true;
        }
    }

    /// Updates the dead-man and the latched faults; call it in every turn of the main loop. `faults` are those that hold now.
    /// Returns whether the motors' drivers must be enabled.
    bool step(uint16_t faults, uint32_t nowMicroseconds) {
        latched_ |= faults;
        if (isEnabled_ && nowMicroseconds - last_ > deadManMicroseconds) {
            isEnabled_ = false;
            hasExpired_ = true;
        }
        return isEnabled_ && latched_ == 0;
    }

    /// True if the motors' drivers must be enabled, as of the last `step`.
    bool isOn() const { return isEnabled_ && latched_ == 0; }

    /// Torque of a motor, N·m; 0 while the drivers must be off.
    float torque(int motor) const { return isOn() ? torque_[motor] : 0; }

    /// Number of frames with a wrong checksum.
    uint32_t damaged() const { return damaged_; }

    /// Writes the frame of the motion, and after every eighth command the frame of the state: at most `reportSize` bytes. Returns the
    /// number of bytes. The frame of the motion is short, so that it survives damaged bytes more often.
    size_t compose(const Report &report, uint8_t *out) {
        begin(out, 0x82, 16);
        out[4] = (uint8_t)sequence_;
        out[5] = (uint8_t)((isOn() ? 1 : 0) | (hasExpired_ ? 2 : 0));
        put16(out + 6, (uint16_t)(latched_ | report.faults));
        for (int i = 0; i < 3; i++) {
            put16(out + 8 + 2 * i, turns(report.angle[i]));
            put16(out + 14 + 2 * i, (uint16_t)limited(report.rate[i] * 1000));
        }
        hasExpired_ = false;
        size_t count = end(out, 16);
        if (sequence_ % stateInterval != 0) return count;
        out += count;
        begin(out, 0x83, 10);
        for (int i = 0; i < 3; i++) put16(out + 4 + 2 * i, (uint16_t)limited(report.current[i] * 1000));
        float millivolts = report.supply * 1000;
        put16(out + 10, millivolts > 65535 ? 65535 : millivolts > 0 ? (uint16_t)millivolts : 0);
        put16(out + 12, report.temperature < -3000 ? 0x8000 : (uint16_t)limited(report.temperature * 10));
        return count + end(out, 10);
    }

    /// Voltage for a torque: `torque / torquePerAmp * resistance`, plus the back-EMF, which a motor without current control needs.
    static float voltage(float torque, float rate, float torquePerAmp, float resistance) {
        return torque / torquePerAmp * resistance + torquePerAmp * rate;
    }

    /// Factor on a voltage command that keeps the motor's voltage when the supply differs from the one that the driver was
    /// configured with; 1 without a measurement, and at most 2.
    static float supplyFactor(float configured, float measured) {
        if (!(measured > 0.5f * configured)) return measured > 0 ? 2 : 1;
        return configured / measured;
    }

  private:
    static const size_t commandSize = 21;
    uint8_t frame_[32];
    size_t used_ = 0;
    uint16_t sequence_ = 0, latched_ = 0;
    bool isEnabled_ = false, hasExpired_ = false;
    float torque_[3] = {0, 0, 0};
    uint32_t last_ = 0, damaged_ = 0;

    void take(uint32_t now) {
        sequence_ = little16(frame_ + 4);
        uint8_t flags = frame_[6];
        bool isSound = true;
        for (int i = 0; i < 3; i++) {
            float value;
            memcpy(&value, frame_ + 7 + 4 * i, 4);
            // Neither NaN nor an infinity.
            isSound = isSound && value > -1000 && value < 1000;
            torque_[i] = value;
        }
        isEnabled_ = (flags & 1) != 0 && isSound;
        if (!isEnabled_) torque_[0] = torque_[1] = torque_[2] = 0;
        if ((flags & 2) != 0 && !isEnabled_) latched_ = 0;
        last_ = now;
    }

    void drop(size_t count) {
        used_ -= count;
        memmove(frame_, frame_ + count, used_);
    }

    static void begin(uint8_t *out, uint8_t type, uint8_t length) { out[0] = 0xA5, out[1] = 0x5A, out[2] = type, out[3] = length; }

    // Adds the checksum to a frame; returns the frame's size.
    static size_t end(uint8_t *out, size_t length) {
        put16(out + 4 + length, crc(out + 2, 2 + length));
        return length + 6;
    }

    static int16_t limited(float value) {
        return value > 32767 ? 32767 : value > -32767 ? (int16_t)lrintf(value) : (int16_t)-32767;
    }

    // Angle in units of 1/65536 turn, within one turn.
    static uint16_t turns(float radians) {
        float turn = radians / 6.2831853f;
        return (uint16_t)(uint32_t)lrintf((turn - floorf(turn)) * 65536);
    }

    static uint16_t little16(const uint8_t *from) { return (uint16_t)(from[0] | from[1] << 8); }

    static void put16(uint8_t *to, uint16_t value) { to[0] = (uint8_t)value, to[1] = (uint8_t)(value >> 8); }

    /// CRC-16 with polynomial 0x8005, initial value 0, highest bit first.
    static uint16_t crc(const uint8_t *bytes, size_t count) {
        uint16_t value = 0;
        for (size_t i = 0; i < count; i++) {
            value = (uint16_t)(value ^ bytes[i] << 8);
            for (int bit = 0; bit < 8; bit++) value = (uint16_t)(value & 0x8000 ? value << 1 ^ 0x8005 : value << 1);
        }
        return value;
    }
};

}  // namespace airframe

#endif
