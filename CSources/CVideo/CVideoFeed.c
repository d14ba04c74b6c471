#include "CVideoPrivate.h"

#include <gst/base/gstbasesrc.h>

struct cv_feed {
    GstElement *pipeline;
    GstElement *pictures;
    cv_server *server;
    int64_t frame_ns;
    GMutex lock;
    cv_feed_stats stats;
    int64_t last_exposed;
    cv_recorder *recorder;
    cv_pictures models;
};

static void read_size(cv_feed *feed, GstSample *sample) {
    GstCaps *caps = gst_sample_get_caps(sample);
    if (!caps) return;
    GstStructure *structure = gst_caps_get_structure(caps, 0);
    gst_structure_get_int(structure, "width", &feed->stats.width);
    gst_structure_get_int(structure, "height", &feed->stats.height);
}

static GstFlowReturn receive(GstAppSink *sink, gpointer context) {
    cv_feed *feed = context;
    GstSample *sample = gst_app_sink_pull_sample(sink);
    if (!sample) return GST_FLOW_OK;
    int64_t exposed = cv_time(feed->pipeline, sample);
    g_mutex_lock(&feed->lock);
    feed->stats.frames++;
    feed->stats.bytes += gst_buffer_get_size(gst_sample_get_buffer(sample));
    feed->stats.newest = cv_now();
    if (exposed >= 0 && feed->last_exposed > 0 && exposed > feed->last_exposed) {
        int64_t steps = (exposed - feed->last_exposed + feed->frame_ns / 2) / feed->frame_ns;
        if (steps > 1) feed->stats.gaps += steps - 1;
    }
    feed->last_exposed = exposed;
    read_size(feed, sample);
    // The call is inside the lock, so that no recorder is closed while it is used. The call does not wait for the disk.
    if (feed->recorder) cv_recorder_push(feed->recorder, sample, exposed);
    g_mutex_unlock(&feed->lock);
    cv_server_push(feed->server, sample, exposed);
    gst_sample_unref(sample);
    return GST_FLOW_OK;
}

cv_feed *cv_feed_open(const char *description, cv_server *server, int64_t frame_ns, char error[CV_TEXT]) {
    GstElement *pipeline = cv_build(description, error);
    if (!pipeline) return NULL;
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "frames");
    if (!sink) {
        cv_set_text(error, CV_TEXT, "the pipeline has no appsink named frames");
        cv_release(pipeline);
        return NULL;
    }
    cv_feed *feed = g_new0(cv_feed, 1);
    feed->pipeline = pipeline;
    feed->pictures = gst_bin_get_by_name(GST_BIN(pipeline), "pictures");
    feed->server = server;
    feed->frame_ns = frame_ns > 0 ? frame_ns : 1;
    g_mutex_init(&feed->lock);
    cv_pictures_find(&feed->models, pipeline);
    GstAppSinkCallbacks callbacks = {.new_sample = receive};
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, feed, NULL);
    gst_object_unref(sink);
    if (!cv_play(pipeline, error)) {
        cv_feed_close(feed);
        return NULL;
    }
    cv_server_source(server, pipeline);
    return feed;
}

cv_outcome cv_feed_wait(cv_feed *feed, int64_t timeout_ns, char error[CV_TEXT]) { return cv_await(feed->pipeline, timeout_ns, error); }

bool cv_feed_set(cv_feed *feed, const char *element, const char *property, const char *value) {
    GstElement *target = gst_bin_get_by_name(GST_BIN(feed->pipeline), element);
    if (!target) return false;
    bool exists = g_object_class_find_property(G_OBJECT_GET_CLASS(target), property) != NULL;
    if (exists) gst_util_set_object_arg(G_OBJECT(target), property, value);
    gst_object_unref(target);
    return exists;
}

bool cv_feed_draw(cv_feed *feed, const uint8_t *bytes, size_t size, int64_t exposed) {
    int64_t base = (int64_t)gst_element_get_base_time(feed->pipeline);
    if (!feed->pictures || base == 0 || exposed < base) return false;
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);
    if (!buffer) return false;
    gst_buffer_fill(buffer, 0, bytes, size);
    GST_BUFFER_PTS(buffer) = (GstClockTime)(exposed - base);
    GST_BUFFER_DURATION(buffer) = (GstClockTime)feed->frame_ns;
    return gst_app_src_push_buffer(GST_APP_SRC(feed->pictures), buffer) == GST_FLOW_OK;
}

void cv_feed_record(cv_feed *feed, cv_recorder *recorder) {
    g_mutex_lock(&feed->lock);
    feed->recorder = recorder;
    g_mutex_unlock(&feed->lock);
    if (recorder) cv_server_request_key_frame(feed->server);
}

cv_feed_stats cv_feed_read(cv_feed *feed) {
    g_mutex_lock(&feed->lock);
    cv_feed_stats stats = feed->stats;
    g_mutex_unlock(&feed->lock);
    stats.stills_need_key = stats.frames > 0 && g_atomic_int_get(&feed->models.stills_wait);
    return stats;
}

/// Stores a weak reference to the buffer pool of a V4L2 camera in `pool`, which becomes NULL when the pool is freed.
static void watch_pool(GstElement *pipeline, gpointer *pool) {
    GstIterator *sources = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), "v4l2src");
    GValue source = G_VALUE_INIT;
    if (gst_iterator_next(sources, &source) == GST_ITERATOR_OK) {
        *pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(g_value_get_object(&source)));
        g_value_unset(&source);
    }
    gst_iterator_free(sources);
    if (!*pool) return;
    g_object_add_weak_pointer(*pool, pool);
    gst_object_unref(*pool);
}

bool cv_feed_sample(cv_feed *feed, uint8_t *target, size_t capacity, cv_sample *sample, int64_t timeout_ns) {
    return cv_pictures_pull(&feed->models, target, capacity, sample, timeout_ns);
}

bool cv_feed_still(cv_feed *feed, uint8_t *target, size_t capacity, cv_still *still, int64_t timeout_ns) {
    return cv_pictures_still(&feed->models, target, capacity, still, timeout_ns);
}

void cv_feed_overlay(cv_feed *feed, const cv_shape *shapes, size_t count, int64_t valid_until) {
    cv_pictures_set(&feed->models, shapes, count, valid_until);
}

void cv_feed_close(cv_feed *feed) {
    cv_server_leave(feed->server, feed->pipeline);
    if (feed->pictures) gst_object_unref(feed->pictures);
    gpointer pool = NULL;
    watch_pool(feed->pipeline, &pool);
    cv_release(feed->pipeline);
    // GStreamer 1.22.0 leaks one reference to the pool, so the element, its device file and four sockets would remain
    // open. At this point no other part uses the pool, because its buffers do not leave the pipeline.
    if (pool) {
        g_object_remove_weak_pointer(pool, &pool);
        if (G_OBJECT(pool)->ref_count == 1) gst_object_unref(pool);
    }
    cv_pictures_release(&feed->models);
    g_mutex_clear(&feed->lock);
    g_free(feed);
}
