// Memory that the processes of a simulated gimbal share. Times are of CLOCK_MONOTONIC, ns. Python reads 9 numbers of 8 bytes for
// each joint.

#pragma once

#include <stdint.h>

struct joint {
    volatile double torque, angle, rate;   // N·m, rad, rad/s
    volatile int64_t is_on, off_at, fault_at, commands, faults, last_command_at;
};
struct memory { struct joint joints[3]; };
