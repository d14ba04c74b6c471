// SPDX-License-Identifier: MIT OR GPL-2.0
/* A register file with faults and a buffer. */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "lab.h"

int chip_begin(struct chip *c)
{
	int error;

	c->transfers++;
	if (c->delay_us)
		usleep_range(c->delay_us, c->delay_us + 20);
	error = c->fail;
	if (error && c->fail_count && --c->fail_count == 0)
		c->fail = 0;
	return error;
}

static u8 pop(struct chip *c)
{
	u8 value;

	if (!c->used)
		return 0xFF;
	value = c->fifo[c->first];
	c->first = (c->first + 1) % LAB_FIFO;
	c->used--;
	return value;
}

u8 chip_read(struct chip *c)
{
	u8 at = c->at, value;

	if (c->fifo_data && at == c->fifo_data) {
		value = pop(c);
	} else {
		c->at++;
		if (c->fifo_data && at == c->fifo_level)
			value = c->used >> 8;
		else if (c->fifo_data && at == c->fifo_level + 1)
			value = c->used;
		else
			value = c->regs[at];
	}
	return c->floating ? c->floating : value;
}

void chip_write(struct chip *c, u8 value)
{
	if (c->fifo_data && c->at == c->fifo_flush)
		c->used = 0;
	c->regs[c->at++] = value;
}

static ssize_t regs_read(struct file *f, char __user *to, size_t size, loff_t *at)
{
	struct chip *c = f->private_data;
	u8 copy[256];

	mutex_lock(&c->lock);
	memcpy(copy, c->regs, sizeof(copy));
	mutex_unlock(&c->lock);
	return simple_read_from_buffer(to, size, at, copy, sizeof(copy));
}

static ssize_t regs_write(struct file *f, const char __user *from, size_t size, loff_t *at)
{
	struct chip *c = f->private_data;
	u8 copy[256];
	loff_t start = *at;
	ssize_t n = simple_write_to_buffer(copy, sizeof(copy), at, from, size);

	if (n > 0) {
		mutex_lock(&c->lock);
		memcpy(c->regs + start, copy + start, n);
		mutex_unlock(&c->lock);
	}
	return n ? n : -ENOSPC;
}

static const struct file_operations regs_operations = {
	.owner = THIS_MODULE, .open = simple_open, .read = regs_read, .write = regs_write,
	.llseek = default_llseek,
};

static ssize_t fifo_write(struct file *f, const char __user *from, size_t size, loff_t *at)
{
	struct chip *c = f->private_data;
	u8 copy[256];
	size_t n;

	size = min(size, sizeof(copy));
	if (copy_from_user(copy, from, size))
		return -EFAULT;
	mutex_lock(&c->lock);
	for (n = 0; n < size; n++) {
		if (c->used >= min_t(u32, c->fifo_size, LAB_FIFO))
			pop(c);
		c->fifo[(c->first + c->used++) % LAB_FIFO] = copy[n];
	}
	mutex_unlock(&c->lock);
	return size;
}

static const struct file_operations fifo_operations = {
	.owner = THIS_MODULE, .open = simple_open, .write = fifo_write, .llseek = noop_llseek,
};

struct dentry *chip_init(struct chip *c, const char *name, struct dentry *parent)
{
	struct dentry *d = debugfs_create_dir(name, parent);

	mutex_init(&c->lock);
	c->fifo_size = LAB_FIFO;
	debugfs_create_file("regs", 0600, d, c, &regs_operations);
	debugfs_create_file("fifo", 0200, d, c, &fifo_operations);
	debugfs_create_u32("fail", 0600, d, &c->fail);
	debugfs_create_u32("fail_count", 0600, d, &c->fail_count);
	debugfs_create_u32("delay_us", 0600, d, &c->delay_us);
	debugfs_create_u32("cut", 0600, d, &c->cut);
	debugfs_create_u32("floating", 0600, d, &c->floating);
	debugfs_create_u32("transfers", 0600, d, &c->transfers);
	debugfs_create_u32("fifo_data", 0600, d, &c->fifo_data);
	debugfs_create_u32("fifo_level", 0600, d, &c->fifo_level);
	debugfs_create_u32("fifo_flush", 0600, d, &c->fifo_flush);
	debugfs_create_u32("fifo_size", 0600, d, &c->fifo_size);
	return d;
}
