#include "CVideoPrivate.h"

/// Largest number of access units that wait for the disk. Above this number, access units are dropped until the next
/// key frame.
#define QUEUE 120

struct cv_recorder {
    GstElement *pipeline;
    GstElement *units;
    GMutex lock;
    int64_t start;
    uint64_t frames, lost;
    bool is_waiting_for_key;
};

cv_recorder *cv_recorder_open(const char *path, char error[CV_TEXT]) {
    // The file consists of fragments of 1 s. If the program is killed, the file can be played up to the last complete
    // fragment.
    GstElement *pipeline = cv_build(
        "appsrc name=units is-live=false format=time block=false max-buffers=0 max-bytes=0 max-time=0 "
        "caps=video/x-h264,stream-format=byte-stream,alignment=au "
        "! h264parse ! mp4mux fragment-duration=1000 ! filesink name=file buffer-mode=unbuffered async=false sync=false",
        error);
    if (!pipeline) return NULL;
    GstElement *file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
    g_object_set(file, "location", path, NULL);
    gst_object_unref(file);
    cv_recorder *recorder = g_new0(cv_recorder, 1);
    recorder->pipeline = pipeline;
    recorder->units = gst_bin_get_by_name(GST_BIN(pipeline), "units");
    recorder->is_waiting_for_key = true;
    g_mutex_init(&recorder->lock);
    if (cv_play(pipeline, error)) return recorder;
    cv_recorder_close(recorder);
    return NULL;
}

void cv_recorder_push(cv_recorder *recorder, GstSample *sample, int64_t exposed) {
    GstBuffer *frame = gst_sample_get_buffer(sample);
    bool is_key = !GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DELTA_UNIT);
    bool is_full = gst_app_src_get_current_level_buffers(GST_APP_SRC(recorder->units)) >= QUEUE;
    g_mutex_lock(&recorder->lock);
    bool is_usable = exposed > 0 && !is_full && (is_key || !recorder->is_waiting_for_key);
    if (is_usable) {
        if (recorder->start == 0) recorder->start = exposed;
        recorder->is_waiting_for_key = false;
        recorder->frames++;
    } else if (recorder->start != 0) {
        recorder->is_waiting_for_key = true;
        recorder->lost++;
    }
    int64_t time = exposed - recorder->start;
    g_mutex_unlock(&recorder->lock);
    if (!is_usable || time < 0) return;
    GstBuffer *copy = gst_buffer_copy(frame);
    GST_BUFFER_PTS(copy) = GST_BUFFER_DTS(copy) = (GstClockTime)time;
    GstSample *moved = gst_sample_new(copy, gst_sample_get_caps(sample), NULL, NULL);
    gst_buffer_unref(copy);
    gst_app_src_push_sample(GST_APP_SRC(recorder->units), moved);
    gst_sample_unref(moved);
}

cv_recorder_stats cv_recorder_read(cv_recorder *recorder) {
    g_mutex_lock(&recorder->lock);
    cv_recorder_stats stats = {.start = recorder->start, .frames = recorder->frames, .lost = recorder->lost};
    g_mutex_unlock(&recorder->lock);
    return stats;
}

cv_outcome cv_recorder_wait(cv_recorder *recorder, int64_t timeout_ns, char error[CV_TEXT]) {
    return cv_await(recorder->pipeline, timeout_ns, error);
}

void cv_recorder_close(cv_recorder *recorder) {
    if (recorder->units) {
        gst_app_src_end_of_stream(GST_APP_SRC(recorder->units));
        char error[CV_TEXT];
        // The wait for the last fragment has a time limit, because a disk that does not respond must not delay the
        // stream.
        if (cv_recorder_read(recorder).frames > 0) cv_await(recorder->pipeline, 2000000000, error);
        gst_object_unref(recorder->units);
    }
    cv_release(recorder->pipeline);
    g_mutex_clear(&recorder->lock);
    g_free(recorder);
}
