// The ioctls of Linux's buses, which Swift cannot call: ioctl(2) takes variable arguments.
//
// Conventions: prefix `ch_`; functions return 0 or a positive errno; the caller owns all memory; no policy, no global
// state, no logging. Each function is one system call unless it says otherwise, and waits as long as the wire does.
#ifndef CHARDWARESHIM_H
#define CHARDWARESHIM_H

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

#endif
