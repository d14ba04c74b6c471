#define _GNU_SOURCE
#include "CLinuxShimInput.h"

#include <errno.h>
#include <linux/input.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

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

int cl_input_upload_effect(int descriptor, int is_periodic, uint16_t length_ms, int *number) {
    struct ff_effect effect;
    memset(&effect, 0, sizeof effect);
    effect.id = -1;
    effect.replay.length = length_ms;
    if (is_periodic) {
        effect.type = FF_PERIODIC;
        // The direction 0x4000 is left: along the x axis, which every device has.
        effect.direction = 0x4000;
        effect.u.periodic.waveform = FF_SINE;
        effect.u.periodic.period = 10;
        effect.u.periodic.magnitude = 0x7FFF;
    } else {
        effect.type = FF_RUMBLE;
        effect.u.rumble.strong_magnitude = 0xFFFF;
        effect.u.rumble.weak_magnitude = 0xFFFF;
    }
    if (ioctl(descriptor, EVIOCSFF, &effect) < 0) return errno;
    *number = effect.id;
    return 0;
}

int cl_input_write(int descriptor, uint16_t type, uint16_t code, int32_t value) {
    struct input_event events[2];
    memset(events, 0, sizeof events);
    events[0].type = type;
    events[0].code = code;
    events[0].value = value;
    events[1].type = EV_SYN;
    events[1].code = SYN_REPORT;
    ssize_t written = write(descriptor, events, sizeof events);
    if (written < 0) return errno;
    return written == (ssize_t)sizeof events ? 0 : EIO;
}
