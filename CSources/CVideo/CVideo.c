#include "CVideoPrivate.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void cv_set_text(char *target, size_t size, const char *text) {
    g_strlcpy(target, text ? text : "", size);
    for (size_t length = strlen(target); length > 0 && strchr(".\n ", target[length - 1]); length--) target[length - 1] = 0;
}

bool cv_start(char error[CV_TEXT]) {
    // Each feed starts new threads. If each thread had its own arena, the memory of closed feeds would be fragmented,
    // and the process would grow.
    mallopt(M_ARENA_MAX, 1);
    // Without this variable, libcamera writes its version to the log at each search for a camera. A value that the user
    // has set remains.
    setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", 0);
    GError *problem = NULL;
    if (gst_init_check(NULL, NULL, &problem)) return true;
    cv_set_text(error, CV_TEXT, problem ? problem->message : "GStreamer cannot be initialised");
    g_clear_error(&problem);
    return false;
}

int64_t cv_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool cv_has_element(const char *name) {
    GstElementFactory *factory = gst_element_factory_find(name);
    if (factory) gst_object_unref(factory);
    return factory != NULL;
}

GstElement *cv_build(const char *description, char error[CV_TEXT]) {
    GError *problem = NULL;
    GstElement *pipeline = gst_parse_launch_full(description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &problem);
    if (problem) {
        cv_set_text(error, CV_TEXT, problem->message);
        g_clear_error(&problem);
        if (pipeline) gst_object_unref(pipeline);
        return NULL;
    }
    // Every pipeline has the same clock, so that a time of exposure is valid in all pipelines.
    GstClock *clock = gst_system_clock_obtain();
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
    gst_object_unref(clock);
    return pipeline;
}

cv_outcome cv_await(GstElement *pipeline, int64_t timeout_ns, char error[CV_TEXT]) {
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, timeout_ns < 0 ? 0 : (GstClockTime)timeout_ns, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    gst_object_unref(bus);
    if (!message) return CV_RUNNING;
    cv_outcome outcome = CV_ENDED;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError *problem = NULL;
        gst_message_parse_error(message, &problem, NULL);
        char text[CV_TEXT];
        cv_set_text(text, sizeof text, problem->message);
        g_snprintf(error, CV_TEXT, "%s (%s)", text, GST_OBJECT_NAME(GST_MESSAGE_SRC(message)));
        g_clear_error(&problem);
        outcome = CV_FAILED;
    }
    gst_message_unref(message);
    return outcome;
}

bool cv_play(GstElement *pipeline, char error[CV_TEXT]) {
    if (gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) return true;
    if (cv_await(pipeline, 0, error) == CV_RUNNING) cv_set_text(error, CV_TEXT, "the pipeline cannot be started");
    return false;
}

void cv_release(GstElement *pipeline) {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

int64_t cv_time(GstElement *pipeline, GstSample *sample) {
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    GstSegment *segment = gst_sample_get_segment(sample);
    if (!buffer || !segment || !GST_BUFFER_PTS_IS_VALID(buffer)) return -1;
    GstClockTime running = gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    if (!GST_CLOCK_TIME_IS_VALID(running)) return -1;
    return (int64_t)(gst_element_get_base_time(pipeline) + running);
}
