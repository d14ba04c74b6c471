// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Fake inertial sensors for the laboratory: IIO devices with a gyroscope and an accelerometer, driven by
 * programs under test through /sys/bus/iio and /dev/iio:deviceN like real ones, and by the test through
 * files in debugfs.
 *
 *   modprobe airframe_iio devices=1        one device, lab_imu
 *   modprobe airframe_iio devices=2        two devices, lab_gyro and lab_accel, each with its own clock
 *
 * /sys/kernel/debug/airframe_iio/
 *   motion     what the sensors measure: rates about x, y, z in µrad/s, then forces along x, y, z in
 *              µm/s², six signed numbers of 32 bits
 *   silent     bit 0: the first device stops measuring, bit 1: the second
 *   present    0: the devices are removed, 1: they are back, with new numbers if somebody holds the old
 *   pushed     how many measurements there were, of all devices
 *
 * The sensor is mounted with its x axis along the board's y axis and its y axis against the board's x axis;
 * mount_matrix says so. A measurement has noise of some counts.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/iio/buffer.h>
#include <linux/iio/iio.h>
#include <linux/iio/kfifo_buf.h>
#include <linux/iio/sysfs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/uaccess.h>

static int devices = 1;
module_param(devices, int, 0444);

/* Nano rad/s and micro m/s² for a count of 16 bits. */
static const int gyro_scales[] = { 0, 133090, 0, 266181, 0, 532362, 0, 1064724 };
static const int accel_scales[] = { 0, 598, 0, 1196, 0, 2392, 0, 4785 };
static const int frequencies[] = { 50, 100, 200, 500, 1000, 2000 };
static const int corners[] = { 20, 45, 90, 180, 400 };

struct sensor {
	struct iio_dev *iio;
	struct iio_buffer *buffer;
	struct hrtimer timer;
	int number, frequency, corner, gyro_scale, accel_scale;
	u32 seed;
	struct {
		u8 bytes[48];
		s64 timestamp;
	} scan __aligned(8);
};

static struct platform_device *parent;
static struct dentry *folder;
static DEFINE_MUTEX(lock);
static struct sensor *sensors[2];
static s32 motion[6] = { 0, 0, 0, 0, 0, -9806650 };
static u32 silent, pushed;
static int is_present;

static const struct iio_mount_matrix mounting = {
	.rotation = { "0", "-1", "0", "1", "0", "0", "0", "0", "1" },
};

static const struct iio_mount_matrix *mount_matrix(const struct iio_dev *iio, const struct iio_chan_spec *c)
{
	return &mounting;
}

static const struct iio_chan_spec_ext_info ext_info[] = {
	IIO_MOUNT_MATRIX(IIO_SHARED_BY_TYPE, mount_matrix),
	{ }
};

#define CHANNEL(kind, axis, number, order, valid, right) {					\
	.type = kind, .modified = 1, .channel2 = axis, .scan_index = number,			\
	.info_mask_separate = BIT(IIO_CHAN_INFO_RAW),						\
	.info_mask_shared_by_type = BIT(IIO_CHAN_INFO_SCALE) |					\
		BIT(IIO_CHAN_INFO_LOW_PASS_FILTER_3DB_FREQUENCY),				\
	.info_mask_shared_by_type_available = BIT(IIO_CHAN_INFO_SCALE) |			\
		BIT(IIO_CHAN_INFO_LOW_PASS_FILTER_3DB_FREQUENCY),				\
	.info_mask_shared_by_all = BIT(IIO_CHAN_INFO_SAMP_FREQ),				\
	.info_mask_shared_by_all_available = BIT(IIO_CHAN_INFO_SAMP_FREQ),			\
	.scan_type = { .sign = 's', .realbits = valid, .storagebits = 16, .shift = right,	\
		       .endianness = order },							\
	.ext_info = ext_info,									\
}
#define AXES(kind, number, order, valid, right)				\
	CHANNEL(kind, IIO_MOD_X, number, order, valid, right),		\
	CHANNEL(kind, IIO_MOD_Y, (number) + 1, order, valid, right),	\
	CHANNEL(kind, IIO_MOD_Z, (number) + 2, order, valid, right)

static const struct iio_chan_spec both[] = {
	AXES(IIO_ACCEL, 0, IIO_LE, 16, 0),
	AXES(IIO_ANGL_VEL, 3, IIO_LE, 16, 0),
	IIO_CHAN_SOFT_TIMESTAMP(6),
};
static const struct iio_chan_spec only_gyro[] = {
	AXES(IIO_ANGL_VEL, 0, IIO_BE, 16, 0),
	IIO_CHAN_SOFT_TIMESTAMP(3),
};
static const struct iio_chan_spec only_accel[] = {
	AXES(IIO_ACCEL, 0, IIO_LE, 12, 4),
	IIO_CHAN_SOFT_TIMESTAMP(3),
};

/* The counts of a channel. A value of fewer bits has a coarser scale. */
static int counts(struct sensor *s, const struct iio_chan_spec *c)
{
	int axis = c->channel2 - IIO_MOD_X, is_gyro = c->type == IIO_ANGL_VEL;
	const s32 *board = motion + (is_gyro ? 0 : 3);
	s64 value = axis == 0 ? board[1] : axis == 1 ? -(s64)board[0] : board[2];
	s64 scale = is_gyro ? s->gyro_scale : (s64)s->accel_scale << (16 - c->scan_type.realbits);
	int limit = (1 << (c->scan_type.realbits - 1)) - 1;
	s64 n = div64_s64(is_gyro ? value * 1000 : value, scale);

	s->seed = s->seed * 1664525 + 1013904223;
	n += (int)(s->seed >> 16 & 7) - 3;
	return clamp_t(s64, n, -limit, limit);
}

static enum hrtimer_restart measure(struct hrtimer *timer)
{
	struct sensor *s = container_of(timer, struct sensor, timer);
	int i, at = 0;

	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / s->frequency));
	if (silent >> s->number & 1)
		return HRTIMER_RESTART;
	for (i = 0; i < s->iio->num_channels; i++) {
		const struct iio_chan_spec *c = s->iio->channels + i;
		u16 word;

		if (c->type == IIO_TIMESTAMP || !test_bit(c->scan_index, s->iio->active_scan_mask))
			continue;
		word = (u16)(counts(s, c) << c->scan_type.shift);
		word = c->scan_type.endianness == IIO_BE ? (__force u16)cpu_to_be16(word) : (__force u16)cpu_to_le16(word);
		memcpy(s->scan.bytes + at, &word, 2);
		at += 2;
	}
	iio_push_to_buffers_with_timestamp(s->iio, s->scan.bytes, iio_get_time_ns(s->iio));
	pushed++;
	return HRTIMER_RESTART;
}

static int start(struct iio_dev *iio)
{
	struct sensor *s = *(struct sensor **)iio_priv(iio);

	hrtimer_start(&s->timer, ns_to_ktime(NSEC_PER_SEC / s->frequency), HRTIMER_MODE_REL);
	return 0;
}

static int stop(struct iio_dev *iio)
{
	struct sensor *s = *(struct sensor **)iio_priv(iio);

	hrtimer_cancel(&s->timer);
	return 0;
}

static const struct iio_buffer_setup_ops buffer_operations = { .postenable = start, .predisable = stop };

static int read_raw(struct iio_dev *iio, const struct iio_chan_spec *c, int *value, int *more, long mask)
{
	struct sensor *s = *(struct sensor **)iio_priv(iio);

	switch (mask) {
	case IIO_CHAN_INFO_RAW:
		*value = counts(s, c);
		return IIO_VAL_INT;
	case IIO_CHAN_INFO_SCALE:
		*value = 0;
		if (c->type == IIO_ANGL_VEL) {
			*more = s->gyro_scale;
			return IIO_VAL_INT_PLUS_NANO;
		}
		*more = s->accel_scale << (16 - c->scan_type.realbits);
		return IIO_VAL_INT_PLUS_MICRO;
	case IIO_CHAN_INFO_SAMP_FREQ:
		*value = s->frequency;
		return IIO_VAL_INT;
	case IIO_CHAN_INFO_LOW_PASS_FILTER_3DB_FREQUENCY:
		*value = s->corner;
		return IIO_VAL_INT;
	}
	return -EINVAL;
}

static int has(const int *list, int count, int step, int value)
{
	int i;

	for (i = step - 1; i < count; i += step)
		if (list[i] == value)
			return 1;
	return 0;
}

static int write_raw(struct iio_dev *iio, const struct iio_chan_spec *c, int value, int more, long mask)
{
	struct sensor *s = *(struct sensor **)iio_priv(iio);

	if (iio_buffer_enabled(iio))
		return -EBUSY;
	switch (mask) {
	case IIO_CHAN_INFO_SCALE:
		if (c->type == IIO_ANGL_VEL) {
			if (value || !has(gyro_scales, ARRAY_SIZE(gyro_scales), 2, more))
				return -EINVAL;
			s->gyro_scale = more;
			return 0;
		}
		more >>= 16 - c->scan_type.realbits;
		if (value || !has(accel_scales, ARRAY_SIZE(accel_scales), 2, more))
			return -EINVAL;
		s->accel_scale = more;
		return 0;
	case IIO_CHAN_INFO_SAMP_FREQ:
		if (!has(frequencies, ARRAY_SIZE(frequencies), 1, value))
			return -EINVAL;
		s->frequency = value;
		return 0;
	case IIO_CHAN_INFO_LOW_PASS_FILTER_3DB_FREQUENCY:
		if (!has(corners, ARRAY_SIZE(corners), 1, value))
			return -EINVAL;
		s->corner = value;
		return 0;
	}
	return -EINVAL;
}

static int write_raw_get_fmt(struct iio_dev *iio, const struct iio_chan_spec *c, long mask)
{
	return mask == IIO_CHAN_INFO_SCALE && c->type == IIO_ANGL_VEL ? IIO_VAL_INT_PLUS_NANO : IIO_VAL_INT_PLUS_MICRO;
}

static int read_avail(struct iio_dev *iio, const struct iio_chan_spec *c, const int **list, int *type, int *length, long mask)
{
	int is_rate = mask == IIO_CHAN_INFO_SAMP_FREQ;

	*type = IIO_VAL_INT;
	*list = is_rate ? frequencies : corners;
	*length = is_rate ? ARRAY_SIZE(frequencies) : ARRAY_SIZE(corners);
	if (mask != IIO_CHAN_INFO_SCALE)
		return IIO_AVAIL_LIST;
	/* The scales of fewer bits are not listed: there the sensor has one range. */
	if (c->scan_type.realbits != 16)
		return -EINVAL;
	*list = c->type == IIO_ANGL_VEL ? gyro_scales : accel_scales;
	*length = 8;
	*type = write_raw_get_fmt(iio, c, mask);
	return IIO_AVAIL_LIST;
}

static const struct iio_info info = {
	.read_raw = read_raw, .write_raw = write_raw, .write_raw_get_fmt = write_raw_get_fmt, .read_avail = read_avail,
};

static struct sensor *add(int number, const char *name, const struct iio_chan_spec *channels, int count)
{
	struct sensor *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int error = -ENOMEM;

	if (!s)
		return ERR_PTR(error);
	s->number = number;
	s->frequency = 100, s->corner = 180;
	s->gyro_scale = 133090;
	s->accel_scale = count == ARRAY_SIZE(both) ? 598 : 4785;
	s->seed = 12345 + number;
	hrtimer_init(&s->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	s->timer.function = measure;
	s->iio = iio_device_alloc(&parent->dev, sizeof(s));
	s->buffer = iio_kfifo_allocate();
	if (!s->iio || !s->buffer)
		goto failed;
	*(struct sensor **)iio_priv(s->iio) = s;
	s->iio->name = name, s->iio->info = &info;
	s->iio->channels = channels, s->iio->num_channels = count;
	s->iio->modes = INDIO_DIRECT_MODE | INDIO_BUFFER_SOFTWARE;
	s->iio->setup_ops = &buffer_operations;
	error = iio_device_attach_buffer(s->iio, s->buffer);
	if (!error)
		error = iio_device_register(s->iio);
	if (!error)
		return s;
failed:
	if (s->buffer)
		iio_kfifo_free(s->buffer);
	if (s->iio)
		iio_device_free(s->iio);
	kfree(s);
	return ERR_PTR(error);
}

static void leave(void)
{
	int i;

	is_present = 0;
	for (i = 0; i < 2; i++) {
		struct sensor *s = sensors[i];

		sensors[i] = NULL;
		if (!s)
			continue;
		iio_device_unregister(s->iio);
		hrtimer_cancel(&s->timer);
		iio_kfifo_free(s->buffer);
		iio_device_free(s->iio);
		kfree(s);
	}
}

static int come(void)
{
	struct sensor *s;

	s = devices == 1 ? add(0, "lab_imu", both, ARRAY_SIZE(both))
			 : add(0, "lab_gyro", only_gyro, ARRAY_SIZE(only_gyro));
	if (IS_ERR(s))
		return PTR_ERR(s);
	sensors[0] = s;
	is_present = 1;
	if (devices == 1)
		return 0;
	s = add(1, "lab_accel", only_accel, ARRAY_SIZE(only_accel));
	if (!IS_ERR(s))
		sensors[1] = s;
	else
		leave();
	return PTR_ERR_OR_ZERO(s);
}

static ssize_t motion_write(struct file *f, const char __user *from, size_t size, loff_t *at)
{
	s32 copy[6];

	if (size != sizeof(copy))
		return -EINVAL;
	if (copy_from_user(copy, from, size))
		return -EFAULT;
	memcpy(motion, copy, sizeof(copy));
	return size;
}

static const struct file_operations motion_operations = {
	.owner = THIS_MODULE, .open = simple_open, .write = motion_write, .llseek = noop_llseek,
};

static int present_set(void *data, u64 value)
{
	int error = 0;

	mutex_lock(&lock);
	if (!value)
		leave();
	else if (!is_present)
		error = come();
	mutex_unlock(&lock);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(present_operations, NULL, present_set, "%llu\n");

static int __init lab_iio_init(void)
{
	int error;

	if (devices < 1 || devices > 2)
		return -EINVAL;
	parent = platform_device_register_simple("airframe-lab-iio", -1, NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	error = come();
	if (error) {
		platform_device_unregister(parent);
		return error;
	}
	folder = debugfs_create_dir("airframe_iio", NULL);
	debugfs_create_file("motion", 0200, folder, NULL, &motion_operations);
	debugfs_create_u32("silent", 0600, folder, &silent);
	debugfs_create_u32("pushed", 0400, folder, &pushed);
	debugfs_create_file("present", 0200, folder, NULL, &present_operations);
	return 0;
}

static void __exit lab_iio_exit(void)
{
	debugfs_remove(folder);
	leave();
	platform_device_unregister(parent);
}

module_init(lab_iio_init);
module_exit(lab_iio_exit);
MODULE_DESCRIPTION("fake IIO gyroscope and accelerometer for tests");
MODULE_LICENSE("Dual MIT/GPL");
