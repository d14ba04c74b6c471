#include "CVideoPrivate.h"

#include <string.h>

/// Reads the bounds of an integer or of a range of integers; for a list, the bounds of all elements.
static void bounds(const GstStructure *structure, const char *field, int32_t *minimum, int32_t *maximum) {
    const GValue *value = gst_structure_get_value(structure, field);
    *minimum = *maximum = 0;
    if (!value) return;
    if (G_VALUE_HOLDS_INT(value)) {
        *minimum = *maximum = g_value_get_int(value);
    } else if (GST_VALUE_HOLDS_INT_RANGE(value)) {
        *minimum = gst_value_get_int_range_min(value);
        *maximum = gst_value_get_int_range_max(value);
    }
}

/// Adds a rate, or the range of the rates between `low` and `high`, unless the mode already has it.
static void add_rate(cv_mode *mode, const GValue *low, const GValue *high) {
    cv_rate rate = {gst_value_get_fraction_numerator(low), gst_value_get_fraction_denominator(low),
                    gst_value_get_fraction_numerator(high), gst_value_get_fraction_denominator(high)};
    // A rate of 0 means that the rate is unknown.
    if (rate.max_numerator <= 0) return;
    for (int32_t index = 0; index < mode->rate_count; index++) {
        if (!memcmp(&mode->rates[index], &rate, sizeof rate)) return;
    }
    mode->rates = g_renew(cv_rate, mode->rates, mode->rate_count + 1);
    mode->rates[mode->rate_count++] = rate;
}

static void add_rates(cv_mode *mode, const GValue *value) {
    if (!value) return;
    if (GST_VALUE_HOLDS_FRACTION(value)) add_rate(mode, value, value);
    if (GST_VALUE_HOLDS_FRACTION_RANGE(value)) {
        add_rate(mode, gst_value_get_fraction_range_min(value), gst_value_get_fraction_range_max(value));
    }
    if (GST_VALUE_HOLDS_LIST(value)) {
        for (guint index = 0; index < gst_value_list_get_size(value); index++) {
            add_rates(mode, gst_value_list_get_value(value, index));
        }
    }
}

static void add_mode(cv_camera *camera, const GstStructure *structure) {
    cv_mode mode = {0};
    cv_set_text(mode.media, sizeof mode.media, gst_structure_get_name(structure));
    cv_set_text(mode.format, sizeof mode.format, gst_structure_get_string(structure, "format"));
    bounds(structure, "width", &mode.min_width, &mode.max_width);
    bounds(structure, "height", &mode.min_height, &mode.max_height);
    const GValue *rates = gst_structure_get_value(structure, "framerate");
    for (int32_t index = 0; index < camera->mode_count; index++) {
        cv_mode *other = &camera->modes[index];
        if (strcmp(other->media, mode.media) || strcmp(other->format, mode.format)) continue;
        if (other->min_width != mode.min_width || other->max_width != mode.max_width) continue;
        if (other->min_height != mode.min_height || other->max_height != mode.max_height) continue;
        add_rates(other, rates);
        return;
    }
    if (camera->mode_count == CV_MODES) return;
    add_rates(&mode, rates);
    camera->modes[camera->mode_count++] = mode;
}

/// Splits lists of formats and sizes, but not the list of rates, which can have hundreds of elements.
static void add_modes(cv_camera *camera, GstCaps *caps) {
    for (guint index = 0; index < gst_caps_get_size(caps); index++) {
        GstCaps *one = gst_caps_copy_nth(caps, index);
        GstStructure *structure = gst_caps_get_structure(one, 0);
        const GValue *rates = gst_structure_get_value(structure, "framerate");
        GValue kept = G_VALUE_INIT;
        if (rates) {
            g_value_init(&kept, G_VALUE_TYPE(rates));
            g_value_copy(rates, &kept);
            gst_structure_remove_field(structure, "framerate");
        }
        one = gst_caps_normalize(one);
        for (guint part = 0; part < gst_caps_get_size(one); part++) {
            GstStructure *copy = gst_structure_copy(gst_caps_get_structure(one, part));
            if (rates) gst_structure_set_value(copy, "framerate", &kept);
            add_mode(camera, copy);
            gst_structure_free(copy);
        }
        if (rates) g_value_unset(&kept);
        gst_caps_unref(one);
    }
}

/// Writes the data of a camera. Returns false for devices from other providers, such as the media server of a desktop.
static bool describe(GstDevice *device, cv_camera *camera) {
    const char *type = G_OBJECT_TYPE_NAME(device);
    memset(camera, 0, sizeof *camera);
    camera->is_libcamera = !strcmp(type, "GstLibcameraDevice");
    if (!camera->is_libcamera && strcmp(type, "GstV4l2Device")) return false;
    char *name = gst_device_get_display_name(device);
    cv_set_text(camera->name, sizeof camera->name, name);
    if (camera->is_libcamera) g_strlcpy(camera->path, name, sizeof camera->path);
    g_free(name);
    GstStructure *properties = gst_device_get_properties(device);
    if (properties) {
        if (!camera->is_libcamera) {
            const char *path = gst_structure_get_string(properties, "device.path");
            g_strlcpy(camera->path, path ? path : "", sizeof camera->path);
        }
        cv_set_text(camera->driver, sizeof camera->driver, gst_structure_get_string(properties, "v4l2.device.driver"));
        gst_structure_free(properties);
    }
    if (!camera->path[0]) return false;
    GstCaps *caps = gst_device_get_caps(device);
    if (caps) {
        add_modes(camera, caps);
        gst_caps_unref(caps);
    }
    return true;
}

size_t cv_cameras(cv_camera *cameras, size_t capacity) {
    GstDeviceMonitor *monitor = gst_device_monitor_new();
    // Without this setting, libcamera's plugin hides every V4L2 camera, even cameras that libcamera cannot use.
    gst_device_monitor_set_show_all_devices(monitor, TRUE);
    gst_device_monitor_add_filter(monitor, "Video/Source", NULL);
    size_t count = 0;
    if (gst_device_monitor_start(monitor)) {
        GList *devices = gst_device_monitor_get_devices(monitor);
        for (GList *entry = devices; entry; entry = entry->next) {
            if (count < capacity && describe(entry->data, &cameras[count])) count++;
            gst_object_unref(entry->data);
        }
        g_list_free(devices);
        gst_device_monitor_stop(monitor);
    }
    gst_object_unref(monitor);
    return count;
}

void cv_cameras_release(cv_camera *cameras, size_t count) {
    for (size_t index = 0; index < count; index++) {
        for (int32_t mode = 0; mode < cameras[index].mode_count; mode++) g_free(cameras[index].modes[mode].rates);
    }
}
