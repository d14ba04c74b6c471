#include "CVideoPrivate.h"

#include <math.h>
#include <string.h>

/// Drops the access units between a gap and the next key frame. A gap is a pause of the valve or a loss of the queue. A
/// decoder would apply these access units to pictures from before the gap, and output damaged pictures with new times.
/// The function is a probe of a parser, because cameras do not mark their key frames.
static GstPadProbeReturn await_key(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad;
    gint *waits = context;
    GstBuffer *unit = GST_PAD_PROBE_INFO_BUFFER(info);
    if (!GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_DELTA_UNIT)) g_atomic_int_set(waits, FALSE);
    else if (GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_DISCONT)) g_atomic_int_set(waits, TRUE);
    return g_atomic_int_get(waits) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void watch_units(GstElement *pipeline, const char *name, gint *waits) {
    GstElement *parser = gst_bin_get_by_name(GST_BIN(pipeline), name);
    if (!parser) return;
    g_atomic_int_set(waits, TRUE);
    GstPad *pad = gst_element_get_static_pad(parser, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, await_key, waits, NULL);
    gst_object_unref(pad);
    gst_object_unref(parser);
}

void cv_pictures_find(cv_pictures *pictures, GstElement *pipeline) {
    pictures->pipeline = pipeline;
    pictures->sink = gst_bin_get_by_name(GST_BIN(pipeline), "samples");
    pictures->stills = gst_bin_get_by_name(GST_BIN(pipeline), "stills");
    g_mutex_init(&pictures->lock);
    watch_units(pipeline, "gate-units", &pictures->sink_waits);
    watch_units(pipeline, "shutter-units", &pictures->stills_wait);
    GstElement *overlay = gst_bin_get_by_name(GST_BIN(pipeline), "overlay");
    if (!overlay) return;
    GstPad *pad = gst_element_get_static_pad(overlay, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, cv_pictures_draw, pictures, NULL);
    gst_object_unref(pad);
    gst_object_unref(overlay);
}

void cv_pictures_release(cv_pictures *pictures) {
    if (pictures->sink) gst_object_unref(pictures->sink);
    if (pictures->stills) gst_object_unref(pictures->stills);
    g_free(pictures->shapes);
    g_mutex_clear(&pictures->lock);
}

/// Largest age of a picture, ns. While a valve is closed, its appsink keeps the last picture before the pause.
#define OLDEST 1000000000

/// The newest sample of an appsink; NULL without a sample within the timeout, and instead of a sample that is too old.
static GstSample *pull(const cv_pictures *pictures, GstElement *sink, int64_t timeout_ns) {
    if (!sink) return NULL;
    GstSample *sample =
        gst_app_sink_try_pull_sample(GST_APP_SINK(sink), timeout_ns < 0 ? 0 : (GstClockTime)timeout_ns);
    if (!sample) return NULL;
    int64_t exposed = cv_time(pictures->pipeline, sample);
    if (exposed < 0 || cv_now() - exposed <= OLDEST) return sample;
    gst_sample_unref(sample);
    return NULL;
}

bool cv_pictures_still(cv_pictures *pictures, uint8_t *target, size_t capacity, cv_still *still, int64_t timeout_ns) {
    GstSample *sample = pull(pictures, pictures->stills, timeout_ns);
    if (!sample) return false;
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    still->size = gst_buffer_get_size(buffer);
    still->exposed = cv_time(pictures->pipeline, sample);
    bool fits = still->size <= capacity && gst_buffer_extract(buffer, 0, target, still->size) == still->size;
    gst_sample_unref(sample);
    return fits;
}

bool cv_pictures_pull(cv_pictures *pictures, uint8_t *target, size_t capacity, cv_sample *info, int64_t timeout_ns) {
    GstSample *sample = pull(pictures, pictures->sink, timeout_ns);
    if (!sample) return false;
    bool is_copied = false;
    GstVideoInfo video;
    GstVideoFrame frame;
    if (gst_video_info_from_caps(&video, gst_sample_get_caps(sample))
        && gst_video_frame_map(&frame, &video, gst_sample_get_buffer(sample), GST_MAP_READ)) {
        info->width = GST_VIDEO_FRAME_WIDTH(&frame);
        info->height = GST_VIDEO_FRAME_HEIGHT(&frame);
        info->exposed = cv_time(pictures->pipeline, sample);
        size_t row = 3 * (size_t)info->width;
        if (row * (size_t)info->height <= capacity) {
            for (int line = 0; line < info->height; line++) {
                memcpy(target + (size_t)line * row,
                       (const uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) + (size_t)line * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), row);
            }
            is_copied = true;
        }
        gst_video_frame_unmap(&frame);
    }
    gst_sample_unref(sample);
    return is_copied;
}

void cv_pictures_set(cv_pictures *pictures, const cv_shape *shapes, size_t count, int64_t valid_until) {
    cv_shape *copy = count ? g_memdup2(shapes, count * sizeof *shapes) : NULL;
    g_mutex_lock(&pictures->lock);
    cv_shape *old = pictures->shapes;
    pictures->shapes = copy;
    pictures->count = count;
    pictures->valid_until = valid_until;
    g_mutex_unlock(&pictures->lock);
    g_free(old);
}

/// Fills the part of a rectangle that is inside the picture.
static void fill(GstVideoFrame *frame, int left, int top, int right, int bottom, const cv_shape *shape) {
    left = CLAMP(left, 0, GST_VIDEO_FRAME_WIDTH(frame));
    right = CLAMP(right, 0, GST_VIDEO_FRAME_WIDTH(frame));
    top = CLAMP(top, 0, GST_VIDEO_FRAME_HEIGHT(frame));
    bottom = CLAMP(bottom, 0, GST_VIDEO_FRAME_HEIGHT(frame));
    if (left >= right || top >= bottom) return;
    const uint8_t values[3] = {shape->luma, shape->u, shape->v};
    for (int plane = 0; plane < 3; plane++) {
        int half = plane > 0;
        uint8_t *data = GST_VIDEO_FRAME_PLANE_DATA(frame, plane);
        int stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
        int from = left >> half, to = (right + half) >> half;
        to = MIN(to, GST_VIDEO_FRAME_COMP_WIDTH(frame, plane));
        for (int row = top >> half; row < MIN((bottom + half) >> half, GST_VIDEO_FRAME_COMP_HEIGHT(frame, plane)); row++) {
            if (from < to) memset(data + (ptrdiff_t)row * stride + from, values[plane], (size_t)(to - from));
        }
    }
}

static void draw(GstVideoFrame *frame, const cv_shape *shape) {
    // A position far outside the picture, or a position that is not a number, would not fit into an integer.
    const float far = 16384;
    const float ends[4] = {shape->x0, shape->y0, shape->x1, shape->y1};
    for (int index = 0; index < 4; index++) {
        if (!(fabsf(ends[index]) < far)) return;
    }
    if (!shape->is_line) {
        fill(frame, (int)shape->x0, (int)shape->y0, (int)shape->x1, (int)shape->y1, shape);
        return;
    }
    float length = MAX(fabsf(shape->x1 - shape->x0), fabsf(shape->y1 - shape->y0));
    int steps = (int)length + 1;
    for (int step = 0; step <= steps; step++) {
        float share = (float)step / (float)steps;
        int x = (int)(shape->x0 + share * (shape->x1 - shape->x0)) - shape->thickness / 2;
        int y = (int)(shape->y0 + share * (shape->y1 - shape->y0)) - shape->thickness / 2;
        fill(frame, x, y, x + shape->thickness, y + shape->thickness, shape);
    }
}

GstPadProbeReturn cv_pictures_draw(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    cv_pictures *pictures = context;
    g_mutex_lock(&pictures->lock);
    bool is_empty = pictures->count == 0 || cv_now() > pictures->valid_until;
    g_mutex_unlock(&pictures->lock);
    if (is_empty) return GST_PAD_PROBE_OK;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstVideoInfo video;
    bool is_known = caps && gst_video_info_from_caps(&video, caps) && GST_VIDEO_INFO_FORMAT(&video) == GST_VIDEO_FORMAT_I420;
    if (caps) gst_caps_unref(caps);
    if (!is_known) return GST_PAD_PROBE_OK;
    // The branch of the models can share the picture, so the picture is copied if necessary.
    GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
    GstVideoFrame frame;
    if (!gst_video_frame_map(&frame, &video, buffer, GST_MAP_READWRITE)) return GST_PAD_PROBE_OK;
    g_mutex_lock(&pictures->lock);
    for (size_t index = 0; index < pictures->count; index++) draw(&frame, &pictures->shapes[index]);
    g_mutex_unlock(&pictures->lock);
    gst_video_frame_unmap(&frame);
    return GST_PAD_PROBE_OK;
}
