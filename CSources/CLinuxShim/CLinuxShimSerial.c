#define _GNU_SOURCE
#include "CLinuxShimSerial.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int set(int descriptor, uint32_t baud, int makes_raw) {
    struct termios2 settings;
    if (ioctl(descriptor, TCGETS2, &settings) != 0) return errno;
    if (makes_raw) {
        settings.c_iflag = 0;
        settings.c_oflag = 0;
        settings.c_lflag = 0;
        settings.c_cflag = CS8 | CREAD | CLOCAL;
        settings.c_cc[VMIN] = 1;
        settings.c_cc[VTIME] = 0;
    }
    settings.c_cflag &= ~(tcflag_t)(CBAUD | (CBAUD << IBSHIFT));
    settings.c_cflag |= BOTHER | (BOTHER << IBSHIFT);
    settings.c_ispeed = baud;
    settings.c_ospeed = baud;
    return ioctl(descriptor, TCSETS2, &settings) == 0 ? 0 : errno;
}

int cl_serial_open(const char *path, uint32_t baud, int *descriptor) {
    int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = set(fd, baud, 1);
    if (error) {
        close(fd);
        return error;
    }
    ioctl(fd, TCFLSH, TCIOFLUSH);
    *descriptor = fd;
    return 0;
}

int cl_serial_set_baud(int descriptor, uint32_t baud) { return set(descriptor, baud, 0); }

int cl_serial_baud(int descriptor, uint32_t *baud) {
    struct termios2 settings;
    if (ioctl(descriptor, TCGETS2, &settings) != 0) return errno;
    *baud = settings.c_ospeed;
    return 0;
}

void cl_serial_close(int descriptor) {
    ioctl(descriptor, TCFLSH, TCIOFLUSH);
    close(descriptor);
}
