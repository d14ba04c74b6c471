// SPDX-License-Identifier: MIT OR GPL-2.0
/* An SPI bus with a register-file chip at each chip select, for the kernel's spidev. */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/spi/spi.h>

#include "lab.h"

#define TRANSFERS 16

struct select {
	struct chip chip;
	struct spi_device *device;
	int number;
	u32 calls[TRANSFERS];
};

static struct select selects[LAB_CHIPS];
static int select_count;
static struct spi_controller *controller;
static DEFINE_MUTEX(presence);

/* State of a transfer while the chip is selected. */
struct selection {
	int bytes;
	bool is_read;
};

static void carry(struct chip *c, struct selection *s, struct spi_transfer *t)
{
	const u8 *sent = t->tx_buf;
	u8 *received = t->rx_buf;
	int i;

	for (i = 0; i < t->len; i++, s->bytes++) {
		u8 in = sent ? sent[i] : 0, out = 0xFF;

		if (s->bytes == 0) {
			s->is_read = in & 0x80;
			c->at = in & 0x7F;
		} else if (!s->is_read) {
			chip_write(c, in);
		} else if (s->bytes > c->dummies) {
			out = chip_read(c);
		}
		if (received)
			received[i] = out;
	}
}

static int message(struct spi_controller *master, struct spi_message *m)
{
	struct select *s = &selects[m->spi->chip_select];
	struct chip *c = &s->chip;
	struct selection selection = { 0 };
	struct spi_transfer *t;
	int count = 0;

	list_for_each_entry(t, &m->transfers, transfer_list)
		count++;
	s->calls[min(count, TRANSFERS - 1)]++;
	m->status = -chip_begin(c);
	mutex_lock(&c->lock);
	list_for_each_entry(t, &m->transfers, transfer_list) {
		if (m->status || c->cut)
			break;
		carry(c, &selection, t);
		m->actual_length += t->len;
		if (t->cs_change)
			selection.bytes = 0;
	}
	mutex_unlock(&c->lock);
	spi_finalize_current_message(master);
	return 0;
}

static int add(struct select *s)
{
	struct spi_device *device = spi_alloc_device(controller);
	int error;

	if (!device)
		return -ENOMEM;
	device->chip_select = s->number;
	device->max_speed_hz = 24000000;
	device->mode = SPI_MODE_0;
	strscpy(device->modalias, "imu", sizeof(device->modalias));
	error = driver_set_override(&device->dev, &device->driver_override, "spidev", 6);
	if (!error)
		error = spi_add_device(device);
	if (error) {
		spi_dev_put(device);
		return error;
	}
	s->device = device;
	return 0;
}

static int present_get(void *data, u64 *value)
{
	*value = ((struct select *)data)->device != NULL;
	return 0;
}

static int present_set(void *data, u64 value)
{
	struct select *s = data;
	int error = 0;

	mutex_lock(&presence);
	if (value && !s->device) {
		error = add(s);
	} else if (!value && s->device) {
		spi_unregister_device(s->device);
		s->device = NULL;
	}
	mutex_unlock(&presence);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(present, present_get, present_set, "%llu\n");

static int calls_show(struct seq_file *f, void *unused)
{
	struct select *s = f->private;
	int n;

	for (n = 0; n < TRANSFERS; n++)
		if (s->calls[n])
			seq_printf(f, "%d %u\n", n, s->calls[n]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

int spi_init(struct device *parent, struct dentry *folder, int count)
{
	int n, error;

	controller = spi_alloc_master(parent, 0);
	if (!controller)
		return -ENOMEM;
	controller->bus_num = 0;
	controller->num_chipselect = max(count, 1);
	controller->mode_bits = SPI_CPOL | SPI_CPHA;
	controller->transfer_one_message = message;
	error = spi_register_controller(controller);
	if (error) {
		spi_controller_put(controller);
		return error;
	}
	for (n = 0; n < count && !error; n++) {
		char name[16];
		struct dentry *d;

		selects[n].number = n;
		snprintf(name, sizeof(name), "spi-%d", n);
		d = chip_init(&selects[n].chip, name, folder);
		debugfs_create_u32("dummies", 0600, d, &selects[n].chip.dummies);
		debugfs_create_file("present", 0600, d, &selects[n], &present);
		debugfs_create_file("calls", 0400, d, &selects[n], &calls_fops);
		error = add(&selects[n]);
	}
	select_count = count;
	if (error)
		spi_exit();
	return error;
}

void spi_exit(void)
{
	/* Takes its devices along. */
	spi_unregister_controller(controller);
}
