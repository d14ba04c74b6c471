// Input devices of the kernel (evdev) for Swift. All names begin with cl_input_. Every function returns 0 or a positive errno.
#ifndef CLINUXSHIMINPUT_H
#define CLINUXSHIMINPUT_H

#include <stddef.h>
#include <stdint.h>

/// Makes the kernel stamp the events of this descriptor with CLOCK_MONOTONIC (EVIOCSCLOCKID). Call this function before
/// the first read, because the kernel discards waiting events.
int cl_input_use_monotonic(int descriptor);

/// Reads the present value and the range of an absolute axis (EVIOCGABS). `code` is 0...63.
int cl_input_axis(int descriptor, uint16_t code, int32_t *value, int32_t *minimum, int32_t *maximum);

/// Reads which keys and buttons are down (EVIOCGKEY): bit n of byte n / 8 is the key with code n.
int cl_input_keys(int descriptor, uint8_t *bits, size_t size);

#endif
