// SPDX-License-Identifier: MIT OR GPL-2.0
/* A GPIO chip with edge interrupts and a trace of its outputs. */
#include <linux/bitmap.h>
#include <linux/gpio/driver.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "lab.h"

#define TRACE 131072

static u8 level[LAB_LINES], output[LAB_LINES], requested[LAB_LINES], irq_type[LAB_LINES], irq_on[LAB_LINES];
static uint count;
static struct { u64 time, levels; } *trace;
static int traced;
static DEFINE_RAW_SPINLOCK(line_lock);

static int line_request(struct gpio_chip *g, unsigned int n)
{
	requested[n] = 1;
	return 0;
}

static void line_free(struct gpio_chip *g, unsigned int n)
{
	requested[n] = 0;
}

static int line_direction(struct gpio_chip *g, unsigned int n)
{
	return output[n] ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int line_input(struct gpio_chip *g, unsigned int n)
{
	output[n] = 0;
	return 0;
}

static int line_get(struct gpio_chip *g, unsigned int n)
{
	return level[n];
}

static void lines_set(struct gpio_chip *g, unsigned long *mask, unsigned long *bits)
{
	unsigned long flags;
	unsigned int n;
	bool changed = false;

	raw_spin_lock_irqsave(&line_lock, flags);
	for_each_set_bit(n, mask, count) {
		u8 now = test_bit(n, bits);

		changed |= level[n] != now;
		level[n] = now;
	}
	if (changed && traced < TRACE) {
		trace[traced].time = ktime_get_ns();
		trace[traced].levels = 0;
		for (n = 0; n < count; n++)
			trace[traced].levels |= (u64)level[n] << n;
		traced++;
	}
	raw_spin_unlock_irqrestore(&line_lock, flags);
}

static void line_set(struct gpio_chip *g, unsigned int n, int value)
{
	DECLARE_BITMAP(mask, LAB_LINES) = { 0 };
	DECLARE_BITMAP(bits, LAB_LINES) = { 0 };

	__set_bit(n, mask);
	if (value)
		__set_bit(n, bits);
	lines_set(g, mask, bits);
}

static int line_output(struct gpio_chip *g, unsigned int n, int value)
{
	output[n] = 1;
	line_set(g, n, value);
	return 0;
}

static void line_mask(struct irq_data *d)
{
	irq_on[irqd_to_hwirq(d)] = 0;
	gpiochip_disable_irq(irq_data_get_irq_chip_data(d), irqd_to_hwirq(d));
}

static void line_unmask(struct irq_data *d)
{
	gpiochip_enable_irq(irq_data_get_irq_chip_data(d), irqd_to_hwirq(d));
	irq_on[irqd_to_hwirq(d)] = 1;
}

static int line_type(struct irq_data *d, unsigned int type)
{
	irq_type[irqd_to_hwirq(d)] = type;
	return 0;
}

static const struct irq_chip line_irq = {
	.name = "airframe-lab",
	.irq_mask = line_mask,
	.irq_unmask = line_unmask,
	.irq_set_type = line_type,
	.flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

static struct gpio_chip lines = {
	.label = "airframe-lab",
	.owner = THIS_MODULE,
	.base = -1,
	.request = line_request,
	.free = line_free,
	.get_direction = line_direction,
	.direction_input = line_input,
	.direction_output = line_output,
	.get = line_get,
	.set = line_set,
	.set_multiple = lines_set,
};

static ssize_t lines_read(struct file *f, char __user *to, size_t size, loff_t *at)
{
	u8 copy[LAB_LINES];
	int n;

	for (n = 0; n < count; n++)
		copy[n] = level[n] | output[n] << 1 | requested[n] << 2;
	return simple_read_from_buffer(to, size, at, copy, count);
}

static ssize_t lines_write(struct file *f, const char __user *from, size_t size, loff_t *at)
{
	u8 copy[LAB_LINES];
	loff_t n, start = *at;
	ssize_t done = simple_write_to_buffer(copy, count, at, from, size);

	for (n = start; n < start + done; n++) {
		unsigned long flags;
		int changed = 0, now = copy[n] & 1;

		raw_spin_lock_irqsave(&line_lock, flags);
		if (!output[n]) {
			changed = level[n] != now;
			level[n] = now;
		}
		raw_spin_unlock_irqrestore(&line_lock, flags);
		if (changed && irq_on[n] && (irq_type[n] & (now ? IRQ_TYPE_EDGE_RISING : IRQ_TYPE_EDGE_FALLING)))
			generic_handle_domain_irq_safe(lines.irq.domain, n);
	}
	return done ? done : -ENOSPC;
}

static const struct file_operations lines_operations = {
	.owner = THIS_MODULE, .open = simple_open, .read = lines_read, .write = lines_write,
	.llseek = default_llseek,
};

static ssize_t trace_read(struct file *f, char __user *to, size_t size, loff_t *at)
{
	return simple_read_from_buffer(to, size, at, trace, READ_ONCE(traced) * sizeof(*trace));
}

static ssize_t trace_write(struct file *f, const char __user *from, size_t size, loff_t *at)
{
	WRITE_ONCE(traced, 0);
	return size;
}

static const struct file_operations trace_operations = {
	.owner = THIS_MODULE, .open = simple_open, .read = trace_read, .write = trace_write,
	.llseek = default_llseek,
};

int gpio_init(struct device *parent, struct dentry *folder, uint wanted)
{
	int error;

	count = wanted;
	trace = vmalloc(TRACE * sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	lines.ngpio = count;
	lines.parent = parent;
	gpio_irq_chip_set_chip(&lines.irq, &line_irq);
	lines.irq.handler = handle_simple_irq;
	lines.irq.default_type = IRQ_TYPE_NONE;
	error = gpiochip_add_data(&lines, NULL);
	if (error) {
		vfree(trace);
		return error;
	}
	debugfs_create_file("gpio", 0600, folder, NULL, &lines_operations);
	debugfs_create_file("gpio_trace", 0600, folder, NULL, &trace_operations);
	return 0;
}

void gpio_exit(void)
{
	gpiochip_remove(&lines);
	vfree(trace);
}
