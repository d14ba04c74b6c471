// The ioctls of Linux's buses. This library is in C, because ioctl(2) is variadic, and Swift cannot
// call variadic functions.
//
// Conventions: All names begin with `ch_`. The functions return 0 or a positive errno. The caller owns all memory. The
// functions make no decisions, keep no global state, and write no log. Each function makes one system call unless its
// comment states another number, and waits until the transfer on the bus has ended.
#ifndef CHARDWARESHIM_H
#define CHARDWARESHIM_H

#include "CHardwareShimCAN.h"
#include "CHardwareShimSensors.h"
#include "CHardwareShimSerial.h"

#include <linux/i2c.h>
#include <stdint.h>

// MARK: I2C (Documentation/i2c/dev-interface.rst)

/// Opens /dev/i2c-N; the descriptor is closed on exec.
int ch_i2c_open(const char *path, int *fd);

/// Sets the time for which the adapter waits for a stretched clock, ms, and the number of times that it repeats a
/// transfer after a lost arbitration. The function makes two calls.
int ch_i2c_set_patience(int fd, int timeout_ms, int retries);

/// Reads whether the adapter supports combined transfers (I2C_FUNC_I2C). An adapter that supports only SMBus does not
/// support combined transfers.
int ch_i2c_can_combine(int fd, int *can);

/// Transfers all messages with repeated starts between them (I2C_RDWR).
int ch_i2c_transfer(int fd, struct i2c_msg *messages, uint32_t count);

// MARK: GPIO (Documentation/userspace-api/gpio/chardev.rst, version 2)

/// Requests lines of /dev/gpiochipN; outputs are inactive at first. Bit n of `active_low` belongs to the line
/// `lines[n]`. Inputs that are active when low get the chip's pull-up resistors, if the chip has them. The kernel releases
/// the lines when the descriptor is closed. The function makes three calls, or four if the kernel refuses the resistors.
int ch_gpio_request(
    const char *chip, const uint32_t *lines, uint32_t count, uint64_t active_low, int is_output, int *fd);

/// Sets the lines in `mask` to `bits`. Bit n belongs to the line `lines[n]` of the request; 1 means active.
int ch_gpio_set(int fd, uint64_t bits, uint64_t mask);

/// Reads the lines in `mask`, with the order of bits of ch_gpio_set.
int ch_gpio_get(int fd, uint64_t mask, uint64_t *bits);

#endif
