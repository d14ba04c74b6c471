#define _GNU_SOURCE
#include "CHardwareShim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int result(int returned) { return returned < 0 ? errno : 0; }

int ch_i2c_open(const char *path, int *fd) {
    *fd = open(path, O_RDWR | O_CLOEXEC);
    return result(*fd);
}

int ch_i2c_set_patience(int fd, int timeout_ms, int retries) {
    // The kernel expects the timeout in units of 10 ms.
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
    // If the adapter stops before the last message, ioctl(2) returns the number of transferred messages.
    return done == (int)count ? 0 : EIO;
}

// MARK: GPIO

int ch_gpio_request(
    const char *chip, const uint32_t *lines, uint32_t count, uint64_t active_low, int is_output, int *fd
) {
    struct gpio_v2_line_request request = {.num_lines = count};
    if (count > GPIO_V2_LINES_MAX) return EINVAL;
    memcpy(request.offsets, lines, count * sizeof *lines);
    request.config.flags = is_output ? GPIO_V2_LINE_FLAG_OUTPUT : GPIO_V2_LINE_FLAG_INPUT;
    if (active_low != 0) {
        request.config.num_attrs = 1;
        request.config.attrs[0].mask = active_low;
        request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_FLAGS;
        request.config.attrs[0].attr.flags = request.config.flags | GPIO_V2_LINE_FLAG_ACTIVE_LOW;
        // An open switch would leave its line floating.
        if (!is_output) request.config.attrs[0].attr.flags |= GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
    }
    strncpy(request.consumer, "airframed", sizeof request.consumer - 1);
    int chip_fd = open(chip, O_RDWR | O_CLOEXEC);
    if (chip_fd < 0) return errno;
    int error = result(ioctl(chip_fd, GPIO_V2_GET_LINE_IOCTL, &request));
    if (active_low != 0 && !is_output && (error == EINVAL || error == EOPNOTSUPP)) {
        // The chip has no pull-up resistors.
        request.config.attrs[0].attr.flags &= ~(uint64_t)GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
        error = result(ioctl(chip_fd, GPIO_V2_GET_LINE_IOCTL, &request));
    }
    // The lines remain requested after the close of the chip, because they have a separate descriptor.
    close(chip_fd);
    if (error == 0) *fd = request.fd;
    return error;
}

int ch_gpio_set(int fd, uint64_t bits, uint64_t mask) {
    struct gpio_v2_line_values values = {.bits = bits, .mask = mask};
    return result(ioctl(fd, GPIO_V2_LINE_SET_VALUES_IOCTL, &values));
}

int ch_gpio_get(int fd, uint64_t mask, uint64_t *bits) {
    struct gpio_v2_line_values values = {.mask = mask};
    int error = result(ioctl(fd, GPIO_V2_LINE_GET_VALUES_IOCTL, &values));
    *bits = values.bits;
    return error;
}
