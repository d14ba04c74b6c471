#define _GNU_SOURCE
#include "CHardwareShimSensors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

int ch_spi_open(const char *path, int *fd) {
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0) return errno;
    uint8_t mode = SPI_MODE_0, bits = 8;
    if (ioctl(*fd, SPI_IOC_WR_MODE, &mode) == 0 && ioctl(*fd, SPI_IOC_WR_BITS_PER_WORD, &bits) == 0) return 0;
    int error = errno;
    close(*fd);
    *fd = -1;
    return error;
}

int ch_spi_transfer(int fd, struct spi_ioc_transfer *transfers, uint32_t count) {
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < count; i++) wanted += transfers[i].len;
    int moved = ioctl(fd, _IOC(_IOC_WRITE, SPI_IOC_MAGIC, 0, SPI_MSGSIZE(count)), transfers);
    if (moved < 0) return errno;
    return (uint32_t)moved == wanted ? 0 : EIO;
}

int ch_gpio_watch(const char *chip, uint32_t line, const char *consumer, int *fd) {
    *fd = -1;
    int chip_fd = open(chip, O_RDONLY | O_CLOEXEC);
    if (chip_fd < 0) return errno;
    struct gpio_v2_line_request request = {
        .offsets = {line},
        .num_lines = 1,
        .config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING,
    };
    strncpy(request.consumer, consumer, sizeof request.consumer - 1);
    int error = ioctl(chip_fd, GPIO_V2_GET_LINE_IOCTL, &request) < 0 ? errno : 0;
    close(chip_fd);
    if (error == 0) *fd = request.fd;
    return error;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int ch_gpio_edge(int fd, int64_t deadline_ns, int64_t *time_ns, uint32_t *sequence) {
    int64_t left = deadline_ns - now_ns();
    if (left < 0) left = 0;
    struct timespec patience = {left / 1000000000, left % 1000000000};
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int ready = ppoll(&waiting, 1, &patience, NULL);
    if (ready < 0) return errno;
    if (ready == 0) return ETIMEDOUT;
    struct gpio_v2_line_event event;
    ssize_t length = read(fd, &event, sizeof event);
    if (length < 0) return errno;
    if (length != sizeof event) return EIO;
    *time_ns = (int64_t)event.timestamp_ns;
    *sequence = event.line_seqno;
    return 0;
}
