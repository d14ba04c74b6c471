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

/// Uploads a vibration of at most `length_ms` ms, 1...32767, to a device with force feedback (EVIOCSFF). With `is_periodic`,
/// the vibration is a sine (FF_PERIODIC), otherwise a rumble of both motors (FF_RUMBLE). `effect` becomes the number of the
/// effect, for cl_input_write with EV_FF. The kernel deletes the effect when the descriptor is closed. The function waits for
/// the device's driver.
int cl_input_upload_effect(int descriptor, int is_periodic, uint16_t length_ms, int *effect);

/// Writes one event to a device, followed by SYN_REPORT.
int cl_input_write(int descriptor, uint16_t type, uint16_t code, int32_t value);

#endif
