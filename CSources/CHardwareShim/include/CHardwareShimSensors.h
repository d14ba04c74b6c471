// SPI devices and the edges of GPIO lines. The conventions are those of CHardwareShim.h.
#ifndef CHARDWARESHIMSENSORS_H
#define CHARDWARESHIMSENSORS_H

#include <linux/spi/spidev.h>
#include <stdint.h>

// MARK: SPI (Documentation/spi/spidev.rst)

/// Opens /dev/spidevB.C in SPI mode 0 with words of eight bits; the descriptor is closed on exec. The function makes
/// three calls.
int ch_spi_open(const char *path, int *fd);

/// Executes all transfers as one message (SPI_IOC_MESSAGE). Returns EIO if the kernel transferred fewer bytes than
/// requested.
int ch_spi_transfer(int fd, struct spi_ioc_transfer *transfers, uint32_t count);

// MARK: GPIO (the character device's second interface, linux/gpio.h)

/// Requests events for the rising edges of an input of a GPIO chip. `fd` delivers the events until it is closed. The
/// function makes three calls.
int ch_gpio_watch(const char *chip, uint32_t line, const char *consumer, int *fd);

/// Waits for the next edge, at most until the CLOCK_MONOTONIC time `deadline_ns`. Returns ETIMEDOUT if no edge arrives.
/// `time_ns` is the time of the interrupt on the same clock. `sequence` is the number of the edge, counted from 1;
/// edges that a full queue has dropped are also counted. The function makes up to three calls.
int ch_gpio_edge(int fd, int64_t deadline_ns, int64_t *time_ns, uint32_t *sequence);

#endif
