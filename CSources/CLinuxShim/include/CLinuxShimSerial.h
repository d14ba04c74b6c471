// Serial ports for Swift. All names begin with cl_serial_. Every function with a result returns 0 or a positive errno.
#ifndef CLINUXSHIMSERIAL_H
#define CLINUXSHIMSERIAL_H

#include <stdint.h>

/// Opens a port, non-blocking, in raw mode with this speed, bits per second, 8N1, and without flow control. The
/// function is in C, because struct termios2 and its ioctls are in kernel headers that conflict with those of Swift's
/// Glibc module.
int cl_serial_open(const char *path, uint32_t baud, int *descriptor);

/// Changes the speed, bits per second, immediately (TCSETS2). The function changes no other attribute of the port.
int cl_serial_set_baud(int descriptor, uint32_t baud);

/// Reads the speed that the driver uses, bits per second (TCGETS2).
int cl_serial_baud(int descriptor, uint32_t *baud);

/// Closes the port. The function first discards the bytes that wait in the driver, so that close(2) does not wait until
/// they have been sent.
void cl_serial_close(int descriptor);

#endif
