// Serial ports for Swift. Prefix cl_serial_; every function returns 0 or a positive errno; no policy.
#ifndef CLINUXSHIMSERIAL_H
#define CLINUXSHIMSERIAL_H

#include <stdint.h>

/// open(2), non-blocking, and raw at this speed, 8N1 without flow control. In C because struct termios2 and its ioctls are in
/// kernel headers that clash with those of Swift's Glibc module.
int cl_serial_open(const char *path, uint32_t baud, int *descriptor);

/// TCSETS2 at once: another speed, everything else as it is.
int cl_serial_set_baud(int descriptor, uint32_t baud);

/// TCGETS2: the speed that the driver works at.
int cl_serial_baud(int descriptor, uint32_t *baud);

/// Throws away what waits in the driver, so that close(2) does not wait until it has gone out, and closes.
void cl_serial_close(int descriptor);

#endif
