// SPDX-License-Identifier: MIT OR GPL-2.0
/* A PWM chip that remembers what it is told. */
#include <linux/module.h>
#include <linux/pwm.h>
#include <linux/seq_file.h>

#include "lab.h"

static struct pwm_state channel[LAB_LINES];
static u32 changes[LAB_LINES];

static int pwm_set(struct pwm_chip *c, struct pwm_device *p, const struct pwm_state *state)
{
	channel[p->hwpwm] = *state;
	changes[p->hwpwm]++;
	return 0;
}

static const struct pwm_ops pwm_operations = { .owner = THIS_MODULE, .apply = pwm_set };
static struct pwm_chip pwm = { .ops = &pwm_operations };

static int pwm_show(struct seq_file *s, void *unused)
{
	int n;

	for (n = 0; n < pwm.npwm; n++)
		seq_printf(s, "%d %s %llu %llu %u\n", channel[n].enabled,
			   channel[n].polarity == PWM_POLARITY_INVERSED ? "inversed" : "normal",
			   channel[n].period, channel[n].duty_cycle, changes[n]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pwm);

int pwm_init(struct device *parent, struct dentry *folder, uint count)
{
	int error;

	pwm.dev = parent;
	pwm.npwm = count;
	error = pwmchip_add(&pwm);
	if (!error)
		debugfs_create_file("pwm", 0400, folder, NULL, &pwm_fops);
	return error;
}

void pwm_exit(void)
{
	pwmchip_remove(&pwm);
}
