// SPI devices and the edges of GPIO lines. Conventions as in CHardwareShim.h.
#ifndef CHARDWARESHIMSENSORS_H
#define CHARDWARESHIMSENSORS_H

#include <linux/spi/spidev.h>
#include <stdint.h>

// MARK: SPI (Documentation/spi/spidev.rst)

/// Opens /dev/spidevB.C in SPI mode 0 with words of eight bits; the descriptor is closed on exec. Three calls.
int ch_spi_open(const char *path, int *fd);

/// All transfers in one message: SPI_IOC_MESSAGE. EIO when fewer bytes were moved than asked for.
int ch_spi_transfer(int fd, struct spi_ioc_transfer *transfers, uint32_t count);

// MARK: GPIO (the character device's second interface, linux/gpio.h)

/// Asks a GPIO chip for the rising edges of an input. What `fd` delivers are its events, until it is closed. Three calls.
int ch_gpio_watch(const char *chip, uint32_t line, const char *consumer, int *fd);

/// Waits for the next edge, until an instant of CLOCK_MONOTONIC: ETIMEDOUT when none came. `time` is when the interrupt
/// was, on the same clock; `sequence` counts the line's edges from 1, also those that a full queue has dropped. Up to
/// three calls.
int ch_gpio_edge(int fd, int64_t deadline_ns, int64_t *time_ns, uint32_t *sequence);

#endif
