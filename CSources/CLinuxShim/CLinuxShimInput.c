#define _GNU_SOURCE
#include "CLinuxShimInput.h"

#include <errno.h>
#include <linux/input.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

int cl_input_use_monotonic(int descriptor) {
    int clock = CLOCK_MONOTONIC;
    return ioctl(descriptor, EVIOCSCLOCKID, &clock) < 0 ? errno : 0;
}

int cl_input_axis(int descriptor, uint16_t code, int32_t *value, int32_t *minimum, int32_t *maximum) {
    if (code >= ABS_CNT) return EINVAL;
    struct input_absinfo info;
    if (ioctl(descriptor, EVIOCGABS(code), &info) < 0) return errno;
    *value = info.value;
    *minimum = info.minimum;
    *maximum = info.maximum;
    return 0;
}

int cl_input_keys(int descriptor, uint8_t *bits, size_t size) {
    memset(bits, 0, size);
    return ioctl(descriptor, EVIOCGKEY(size), bits) < 0 ? errno : 0;
}
