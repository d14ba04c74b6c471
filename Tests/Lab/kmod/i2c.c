// SPDX-License-Identifier: MIT OR GPL-2.0
/* I2C buses with register-file chips. */
#include <linux/delay.h>
#include <linux/i2c.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "lab.h"

#define MESSAGES 64

struct bus {
	struct i2c_adapter adapter;
	int number;
	bool is_present;
	u32 read_last;
	u32 calls[MESSAGES];
};

static struct bus buses[LAB_CHIPS];
static int bus_count;
static struct chip chip[LAB_CHIPS];
static struct { int bus, address; } place[LAB_CHIPS];
static int chip_count;
static struct device *parent;
static DEFINE_MUTEX(presence);

static struct chip *find(struct bus *b, int address)
{
	int i;

	for (i = 0; i < chip_count; i++)
		if (place[i].bus == b->number && place[i].address == address)
			return &chip[i];
	return NULL;
}

static void carry(struct chip *c, struct i2c_msg *m)
{
	int i;

	mutex_lock(&c->lock);
	for (i = 0; i < m->len; i++) {
		if (m->flags & I2C_M_RD)
			m->buf[i] = chip_read(c);
		else if (i == 0)
			c->at = m->buf[0];
		else
			chip_write(c, m->buf[i]);
	}
	mutex_unlock(&c->lock);
}

static int transfer(struct i2c_adapter *adapter, struct i2c_msg *m, int count)
{
	struct bus *b = container_of(adapter, struct bus, adapter);
	int n;

	b->calls[min(count, MESSAGES - 1)]++;
	/* The rule of i2c-bcm2835. */
	for (n = 0; READ_ONCE(b->read_last) && n < count - 1; n++)
		if (m[n].flags & I2C_M_RD)
			return -EOPNOTSUPP;
	for (n = 0; n < count; n++, m++) {
		struct chip *c = find(b, m->addr);
		int error;

		if (!READ_ONCE(b->is_present))
			return -ENODEV;
		if (!c)
			return -ENXIO;
		error = chip_begin(c);
		if (error == ETIMEDOUT)
			msleep(jiffies_to_msecs(adapter->timeout));
		if (error)
			return -error;
		if (c->cut && m->flags & I2C_M_RD)
			return n;
		carry(c, m);
	}
	return count;
}

static u32 functionality(struct i2c_adapter *adapter)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm algorithm = {
	.master_xfer = transfer,
	.functionality = functionality,
};

static int add(struct bus *b)
{
	int error;

	memset(&b->adapter, 0, sizeof(b->adapter));
	b->adapter.owner = THIS_MODULE;
	b->adapter.algo = &algorithm;
	b->adapter.nr = b->number;
	b->adapter.dev.parent = parent;
	strscpy(b->adapter.name, "airframe lab", sizeof(b->adapter.name));
	WRITE_ONCE(b->is_present, true);
	error = i2c_add_numbered_adapter(&b->adapter);
	if (error)
		WRITE_ONCE(b->is_present, false);
	return error;
}

static void take_away(struct bus *b)
{
	if (!b->is_present)
		return;
	/* Processes that have opened the adapter receive an error at the next transfer; this function waits until then. */
	WRITE_ONCE(b->is_present, false);
	i2c_del_adapter(&b->adapter);
}

static int present_get(void *data, u64 *value)
{
	*value = ((struct bus *)data)->is_present;
	return 0;
}

static int present_set(void *data, u64 value)
{
	struct bus *b = data;
	int error = 0;

	mutex_lock(&presence);
	if (!value)
		take_away(b);
	else if (!b->is_present)
		error = add(b);
	mutex_unlock(&presence);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(present, present_get, present_set, "%llu\n");

static int calls_show(struct seq_file *s, void *unused)
{
	struct bus *b = s->private;
	int n;

	for (n = 0; n < MESSAGES; n++)
		if (b->calls[n])
			seq_printf(s, "%d %u\n", n, b->calls[n]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

static int add_bus(int number, struct dentry *folder)
{
	struct bus *b;
	struct dentry *d;
	char name[16];
	int n;

	for (n = 0; n < bus_count; n++)
		if (buses[n].number == number)
			return 0;
	b = &buses[bus_count];
	b->number = number;
	n = add(b);
	if (n)
		return n;
	bus_count++;
	snprintf(name, sizeof(name), "bus-%d", number);
	d = debugfs_create_dir(name, folder);
	debugfs_create_file("present", 0600, d, b, &present);
	debugfs_create_file("calls", 0400, d, b, &calls_fops);
	debugfs_create_u32("read_last", 0600, d, &b->read_last);
	return 0;
}

int i2c_init(struct device *device, struct dentry *folder, int bus, const ushort *chips, int count)
{
	int n, error = 0;

	parent = device;
	for (n = 0; n < count; n++) {
		char name[16];

		place[n].bus = chips[n] >> 8 ?: bus;
		place[n].address = chips[n] & 0xFF;
		snprintf(name, sizeof(name), "i2c-0x%02x", chips[n]);
		chip_init(&chip[n], name, folder);
	}
	chip_count = count;
	error = add_bus(bus, folder);
	for (n = 0; n < count && !error; n++)
		error = add_bus(place[n].bus, folder);
	if (error)
		i2c_exit();
	return error;
}

void i2c_exit(void)
{
	int n;

	for (n = 0; n < bus_count; n++)
		take_away(&buses[n]);
}
