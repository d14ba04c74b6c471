#define _GNU_SOURCE
#include "CHardwareShim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <sys/ioctl.h>

static int result(int returned) { return returned < 0 ? errno : 0; }

int ch_i2c_open(const char *path, int *fd) {
    *fd = open(path, O_RDWR | O_CLOEXEC);
    return result(*fd);
}

int ch_i2c_set_patience(int fd, int timeout_ms, int retries) {
    // In units of 10 ms.
    if (ioctl(fd, I2C_TIMEOUT, (unsigned long)(timeout_ms + 9) / 10) < 0) return errno;
    return result(ioctl(fd, I2C_RETRIES, (unsigned long)retries));
}

int ch_i2c_can_combine(int fd, int *can) {
    unsigned long functions = 0;
    if (ioctl(fd, I2C_FUNCS, &functions) < 0) return errno;
    *can = (functions & I2C_FUNC_I2C) != 0;
    return 0;
}

int ch_i2c_transfer(int fd, struct i2c_msg *messages, uint32_t count) {
    struct i2c_rdwr_ioctl_data data = {.msgs = messages, .nmsgs = count};
    int done = ioctl(fd, I2C_RDWR, &data);
    if (done < 0) return errno;
    // An adapter that stops in the middle says how far it came.
    return done == (int)count ? 0 : EIO;
}
