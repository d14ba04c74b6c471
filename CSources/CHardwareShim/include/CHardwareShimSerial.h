// Serial lines of servos and motor boards. Conventions as in CHardwareShim.h.
#ifndef CHARDWARESHIMSERIAL_H
#define CHARDWARESHIMSERIAL_H

#include <stdbool.h>
#include <stdint.h>

// MARK: Serial lines (Documentation/driver-api/serial, linux/serial.h)

/// Claims the open port for this process (flock, TIOCEXCL; EBUSY if another one has it), and asks its driver to deliver bytes at once
/// (ASYNC_LOW_LATENCY), as far as the driver can: an FTDI adapter otherwise collects them for 16 ms. `latency_error` becomes the errno
/// of a driver that refuses the flag, or 0; a driver without serial settings is not an error. Up to four calls.
int ch_serial_claim(int fd, int *latency_error);

/// True if the port is a UART of the computer itself, which delivers bytes without the frames of a USB adapter. The major number of the
/// device tells it: 4 (ttyS) or 204 (ttyAMA and others; Documentation/admin-guide/devices.txt). One call.
bool ch_serial_is_uart(int fd);

/// Reads the bytes that have arrived; waits for the first one until the CLOCK_MONOTONIC time `deadline_ns`. ETIMEDOUT if none
/// has arrived, EIO if the port is gone. Up to three calls.
int ch_serial_read(int fd, uint8_t *bytes, uint32_t capacity, int64_t deadline_ns, uint32_t *count);

/// Writes all bytes, without waiting: EAGAIN if the driver's buffer is full.
int ch_serial_write(int fd, const uint8_t *bytes, uint32_t count);

#endif
