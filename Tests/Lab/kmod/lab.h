/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The parts of the module, and the register file behind both kinds of bus. */
#ifndef LAB_H
#define LAB_H

#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/types.h>

#define LAB_CHIPS 16
#define LAB_LINES 64
#define LAB_FIFO 4096

struct chip {
	struct mutex lock;
	u8 regs[256];
	u8 at;
	u32 fail, fail_count, delay_us, cut, floating, transfers;
	/* The registers of its buffer; 0: it has none. */
	u32 fifo_data, fifo_level, fifo_flush, fifo_size;
	u8 fifo[LAB_FIFO];
	u32 first, used;
	/* Meaningless bytes before the first value of a read on SPI. */
	u32 dummies;
};

/* Names its folder in debugfs. */
struct dentry *chip_init(struct chip *c, const char *name, struct dentry *parent);
/* Begins a message: counts it, waits, and says which positive errno it ends with, 0: none. */
int chip_begin(struct chip *c);
/* The next byte of a read, or of a write; both count the register up. With the chip's lock. */
u8 chip_read(struct chip *c);
void chip_write(struct chip *c, u8 value);

int i2c_init(struct device *parent, struct dentry *folder, int bus, const ushort *chips, int count);
void i2c_exit(void);
int spi_init(struct device *parent, struct dentry *folder, int count);
void spi_exit(void);
int gpio_init(struct device *parent, struct dentry *folder, uint count);
void gpio_exit(void);
int pwm_init(struct device *parent, struct dentry *folder, uint count);
void pwm_exit(void);

#endif
