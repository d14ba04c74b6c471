#define _GNU_SOURCE
#include "CHardwareShimSerial.h"

#include <errno.h>
#include <linux/major.h>
#include <linux/serial.h>
#include <linux/tty_flags.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

// Major number of the "low-density serial ports", which <linux/major.h> does not name.
enum { LOW_DENSITY_SERIAL_MAJOR = 204 };

int ch_serial_claim(int fd, int *latency_error) {
    struct serial_struct settings;
    *latency_error = 0;
    // Root can open a port that is claimed, so the lock is for this project's own programs.
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) return errno == EWOULDBLOCK ? EBUSY : errno;
    if (ioctl(fd, TIOCEXCL) < 0) return errno;
    if (ioctl(fd, TIOCGSERIAL, &settings) < 0) {
        // A pseudoterminal and a driver without these settings do not collect bytes.
        if (errno != ENOTTY && errno != EINVAL) *latency_error = errno;
        return 0;
    }
    settings.flags |= ASYNC_LOW_LATENCY;
    if (ioctl(fd, TIOCSSERIAL, &settings) < 0) *latency_error = errno;
    return 0;
}

bool ch_serial_is_uart(int fd) {
    struct stat device;
    if (fstat(fd, &device) < 0 || !S_ISCHR(device.st_mode)) return false;
    return major(device.st_rdev) == TTY_MAJOR || major(device.st_rdev) == LOW_DENSITY_SERIAL_MAJOR;
}

int ch_serial_read(int fd, uint8_t *bytes, uint32_t capacity, int64_t deadline_ns, uint32_t *count) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = deadline_ns - (now.tv_sec * 1000000000LL + now.tv_nsec);
    if (left < 0) left = 0;
    const struct timespec wait = {left / 1000000000, left % 1000000000};
    struct pollfd port = {.fd = fd, .events = POLLIN};
    const int ready = ppoll(&port, 1, &wait, NULL);
    if (ready < 0) return errno;
    if (ready == 0) return ETIMEDOUT;
    const ssize_t got = read(fd, bytes, capacity);
    if (got < 0) return errno == EAGAIN ? ETIMEDOUT : errno;
    if (got == 0) return EIO;
    *count = (uint32_t)got;
    return 0;
}

int ch_serial_write(int fd, const uint8_t *bytes, uint32_t count) {
    const ssize_t sent = write(fd, bytes, count);
    if (sent < 0) return errno;
    return (uint32_t)sent == count ? 0 : EAGAIN;
}
