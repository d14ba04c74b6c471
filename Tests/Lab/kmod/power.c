// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A fake battery and a fake supply monitor for the laboratory, for programs under test in
 * /sys/class/power_supply/lab_battery and in /sys/class/hwmon, with values that the test sets in debugfs.
 *
 *   modprobe airframe_power
 *
 * /sys/kernel/debug/airframe_power/
 *   capacity     per cent                      voltage      µV
 *   current      µA, as a 32-bit number        temperature  tenths of a degree Celsius
 *   status       0 unknown, 1 charging, 2 discharging, 3 not charging, 4 full
 *   present      0: there is no battery
 *   monitor_mv, monitor_ma   what the supply monitor lab_ina measures
 */
#include <linux/debugfs.h>
#include <linux/hwmon.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/power_supply.h>

static u32 capacity = 80, voltage = 7600000, current_ua = (u32)-500000, temperature = 251, status = 2, present = 1;
static u32 monitor_mv = 12100, monitor_ma = 850;

static struct platform_device *parent;
static struct dentry *folder;
static struct power_supply *battery;
static struct device *monitor;

static enum power_supply_property properties[] = {
	POWER_SUPPLY_PROP_STATUS, POWER_SUPPLY_PROP_PRESENT, POWER_SUPPLY_PROP_TECHNOLOGY, POWER_SUPPLY_PROP_CAPACITY,
	POWER_SUPPLY_PROP_VOLTAGE_NOW, POWER_SUPPLY_PROP_CURRENT_NOW, POWER_SUPPLY_PROP_TEMP,
};

static int get(struct power_supply *s, enum power_supply_property p, union power_supply_propval *value)
{
	switch (p) {
	case POWER_SUPPLY_PROP_STATUS: value->intval = status; return 0;
	case POWER_SUPPLY_PROP_PRESENT: value->intval = present; return 0;
	case POWER_SUPPLY_PROP_TECHNOLOGY: value->intval = POWER_SUPPLY_TECHNOLOGY_LIPO; return 0;
	case POWER_SUPPLY_PROP_CAPACITY: value->intval = capacity; return 0;
	case POWER_SUPPLY_PROP_VOLTAGE_NOW: value->intval = voltage; return 0;
	case POWER_SUPPLY_PROP_CURRENT_NOW: value->intval = (s32)current_ua; return 0;
	case POWER_SUPPLY_PROP_TEMP: value->intval = temperature; return 0;
	default: return -EINVAL;
	}
}

static const struct power_supply_desc description = {
	.name = "lab_battery", .type = POWER_SUPPLY_TYPE_BATTERY,
	.properties = properties, .num_properties = ARRAY_SIZE(properties), .get_property = get, .no_thermal = true,
};

static umode_t is_visible(const void *data, enum hwmon_sensor_types type, u32 attribute, int channel)
{
	return 0444;
}

static int read_monitor(struct device *d, enum hwmon_sensor_types type, u32 attribute, int channel, long *value)
{
	if (type == hwmon_in)
		*value = channel == 0 ? 12 : monitor_mv;
	else
		*value = monitor_ma;
	return 0;
}

static const struct hwmon_ops monitor_operations = { .is_visible = is_visible, .read = read_monitor };
static const struct hwmon_channel_info *channels[] = {
	HWMON_CHANNEL_INFO(in, HWMON_I_INPUT, HWMON_I_INPUT),
	HWMON_CHANNEL_INFO(curr, HWMON_C_INPUT),
	NULL
};
static const struct hwmon_chip_info chip = { .ops = &monitor_operations, .info = channels };

static int __init lab_power_init(void)
{
	parent = platform_device_register_simple("airframe-lab-power", -1, NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	battery = power_supply_register(&parent->dev, &description, NULL);
	if (IS_ERR(battery)) {
		platform_device_unregister(parent);
		return PTR_ERR(battery);
	}
	monitor = hwmon_device_register_with_info(&parent->dev, "lab_ina", NULL, &chip, NULL);
	if (IS_ERR(monitor)) {
		power_supply_unregister(battery);
		platform_device_unregister(parent);
		return PTR_ERR(monitor);
	}
	folder = debugfs_create_dir("airframe_power", NULL);
	debugfs_create_u32("capacity", 0600, folder, &capacity);
	debugfs_create_u32("voltage", 0600, folder, &voltage);
	debugfs_create_u32("current", 0600, folder, &current_ua);
	debugfs_create_u32("temperature", 0600, folder, &temperature);
	debugfs_create_u32("status", 0600, folder, &status);
	debugfs_create_u32("present", 0600, folder, &present);
	debugfs_create_u32("monitor_mv", 0600, folder, &monitor_mv);
	debugfs_create_u32("monitor_ma", 0600, folder, &monitor_ma);
	return 0;
}

static void __exit lab_power_exit(void)
{
	debugfs_remove(folder);
	hwmon_device_unregister(monitor);
	power_supply_unregister(battery);
	platform_device_unregister(parent);
}

module_init(lab_power_init);
module_exit(lab_power_exit);
MODULE_DESCRIPTION("fake battery and supply monitor for tests");
MODULE_LICENSE("Dual MIT/GPL");
