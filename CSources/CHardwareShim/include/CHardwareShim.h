// The ioctls of Linux's buses, which Swift cannot call: ioctl(2) takes variable arguments.
//
// Conventions: prefix `ch_`; functions return 0 or a positive errno; the caller owns all memory; no policy, no global
// state, no logging. Each function is one system call unless it says otherwise, and waits as long as the wire does.
#ifndef CHARDWARESHIM_H
#define CHARDWARESHIM_H

#include "CHardwareShimSensors.h"

#include <linux/i2c.h>
#include <stdint.h>

// MARK: I2C (Documentation/i2c/dev-interface.rst)

/// Opens /dev/i2c-N; the descriptor is closed on exec.
int ch_i2c_open(const char *path, int *fd);

/// How long the adapter waits for a stretched clock, and how often it repeats what lost an arbitration. Two calls.
int ch_i2c_set_patience(int fd, int timeout_ms, int retries);

/// Whether the adapter does combined transfers (I2C_FUNC_I2C); SMBus-only adapters do not.
int ch_i2c_can_combine(int fd, int *can);

/// All messages with repeated starts between them: I2C_RDWR.
int ch_i2c_transfer(int fd, struct i2c_msg *messages, uint32_t count);

// MARK: GPIO (Documentation/userspace-api/gpio/chardev.rst, version 2)

/// Takes lines of /dev/gpiochipN, outputs inactive; bit n of `active_low` is for the n-th line. The kernel gives them back
/// when the descriptor is closed. Three calls.
int ch_gpio_request(
    const char *chip, const uint32_t *lines, uint32_t count, uint64_t active_low, int is_output, int *fd);

/// Sets the lines in `mask`, by their place in the request; 1 is active.
int ch_gpio_set(int fd, uint64_t bits, uint64_t mask);

/// Reads the lines in `mask`.
int ch_gpio_get(int fd, uint64_t mask, uint64_t *bits);

#endif
