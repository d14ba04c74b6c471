// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Fake chips for the laboratory: I2C buses and an SPI bus with register-file devices, a GPIO chip
 * and a PWM chip, driven by programs under test through /dev/i2c-N, /dev/spidev0.N, /dev/gpiochipN
 * and /sys/class/pwm like real ones, and by the test through files in debugfs.
 *
 *   modprobe airframe_lab bus=1 chips=0x68,0x40 spis=2 gpios=32 pwms=8
 *
 * A chip 0xB36 is at address 0x36 of bus 0xB; without a bus it is on `bus`.
 *
 * /sys/kernel/debug/airframe_lab/
 *   i2c-0x68/, spi-0/    a chip at an address, at a chip select:
 *     regs               256 registers; read and write at any offset, atomic with messages
 *     fail               errno of messages to this chip (6: no acknowledge; 110: bus stuck, which
 *                        takes as long as the adapter's timeout), 0: none
 *     fail_count         how many messages fail before that stops; 0: all
 *     cut                1: a transfer ends without an error before the first read from it
 *     floating           0x100 + byte: every read gives this byte, as from a line that nobody drives
 *     delay_us           how long a message takes
 *     transfers          how many messages there were, failed ones too
 *     fifo               what is written is appended to its buffer; the oldest is lost when it is full
 *     fifo_data          the register that delivers the buffer; 0: no buffer
 *     fifo_level         two registers with the number of bytes, the upper byte first
 *     fifo_flush         the register that empties it when it is written
 *     fifo_size          bytes that it holds, at most 4096
 *     dummies            SPI: bytes without meaning before the first value of a read
 *   bus-1/, spi-0/
 *     present            0: the adapter, or the chip select, is removed; waits until nobody has it
 *                        open. 1: it is back
 *     read_last          I2C: 1: the adapter refuses a transfer in which a message before the last
 *                        one is a read, as i2c-bcm2835 does
 *     calls              a line for each number of messages in one transfer: that number, and how
 *                        many such transfers there were, failed ones too
 *   gpio                 a byte per line: bit 0 level, bit 1 output, bit 2 requested. A write
 *                        sets the level of inputs (and raises their edge interrupts)
 *   gpio_trace           16 bytes for each change of outputs since the last write to this file: time
 *                        (CLOCK_MONOTONIC, ns), then the levels of all lines, a bit each
 *   pwm                  a line per channel: enabled polarity period duty changes (ns)
 *
 * I2C: a message sets the chip's register pointer with its first byte and stores the others; reads
 * go on from the pointer. SPI: the first byte after the selection is the register, with bit 7 set
 * for a read. Pointers count up and wrap at 256, but for the register of a buffer. Other addresses
 * do not answer.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

#include "lab.h"

static int bus = 1;
module_param(bus, int, 0444);
static ushort chips[LAB_CHIPS] = { 0x68, 0x40 };
static int chip_count = 2;
module_param_array(chips, ushort, &chip_count, 0444);
static int spis = 2;
module_param(spis, int, 0444);
static uint gpios = 32;
module_param(gpios, uint, 0444);
static uint pwms = 8;
module_param(pwms, uint, 0444);

static struct platform_device *device;
static struct dentry *folder;

static int __init lab_init(void)
{
	struct device *parent;
	int error;

	if (gpios > LAB_LINES || pwms > LAB_LINES || spis < 0 || spis > LAB_CHIPS)
		return -EINVAL;
	device = platform_device_register_simple("airframe-lab", -1, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	parent = &device->dev;
	folder = debugfs_create_dir("airframe_lab", NULL);

	error = i2c_init(parent, folder, bus, chips, chip_count);
	if (error)
		goto no_i2c;
	error = spi_init(parent, folder, spis);
	if (error)
		goto no_spi;
	error = gpio_init(parent, folder, gpios);
	if (error)
		goto no_gpio;
	error = pwm_init(parent, folder, pwms);
	if (error)
		goto no_pwm;
	return 0;

no_pwm:
	gpio_exit();
no_gpio:
	spi_exit();
no_spi:
	i2c_exit();
no_i2c:
	debugfs_remove(folder);
	platform_device_unregister(device);
	return error;
}

static void __exit lab_exit(void)
{
	debugfs_remove(folder);
	pwm_exit();
	gpio_exit();
	spi_exit();
	i2c_exit();
	platform_device_unregister(device);
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_DESCRIPTION("fake I2C, SPI, GPIO and PWM chips for tests");
MODULE_LICENSE("Dual MIT/GPL");
