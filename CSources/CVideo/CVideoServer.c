#include "CVideoServerPrivate.h"

#include <gst/video/video-event.h>

/// Largest number of access units that wait for the server's pipeline. Above this number, access units are dropped.
#define QUEUE 8

// MARK: Frames

/// Requests a key frame from the encoder. The function holds no lock of this server while it calls the pipeline.
void cv_server_request_key_frame(cv_server *server) {
    g_mutex_lock(&server->lock);
    GstElement *feed = server->feed ? gst_object_ref(server->feed) : NULL;
    g_mutex_unlock(&server->lock);
    if (!feed) return;
    GstElement *sink = gst_bin_get_by_name(GST_BIN(feed), "frames");
    if (sink) {
        GstPad *pad = gst_element_get_static_pad(sink, "sink");
        gst_pad_push_event(pad, gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, 0));
        gst_object_unref(pad);
        gst_object_unref(sink);
    }
    gst_object_unref(feed);
}

void cv_server_source(cv_server *server, GstElement *pipeline) {
    g_mutex_lock(&server->lock);
    GstElement *old = server->feed;
    server->feed = pipeline ? gst_object_ref(pipeline) : NULL;
    server->is_waiting_for_key = true;
    g_mutex_unlock(&server->lock);
    if (old) gst_object_unref(old);
}

void cv_server_leave(cv_server *server, GstElement *pipeline) {
    g_mutex_lock(&server->lock);
    bool is_source = server->feed == pipeline;
    if (is_source) server->feed = NULL;
    g_mutex_unlock(&server->lock);
    if (is_source) gst_object_unref(pipeline);
}

void cv_server_push(cv_server *server, GstSample *sample, int64_t exposed) {
    GstBuffer *frame = gst_sample_get_buffer(sample);
    bool is_key = !GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DELTA_UNIT);
    g_mutex_lock(&server->lock);
    GstElement *appsrc = server->appsrc ? gst_object_ref(server->appsrc) : NULL;
    // A decoder cannot use the access units before the first key frame, and the access units between a gap and the next
    // key frame.
    bool is_usable = appsrc && (is_key || !server->is_waiting_for_key);
    g_mutex_unlock(&server->lock);
    GstClockTime base = appsrc ? gst_element_get_base_time(appsrc) : 0;
    if (!is_usable || base == 0 || exposed < 0) {
        if (appsrc) gst_object_unref(appsrc);
        return;
    }
    if (gst_app_src_get_current_level_buffers(GST_APP_SRC(appsrc)) >= QUEUE) {
        g_mutex_lock(&server->lock);
        server->stats.dropped++;
        server->is_waiting_for_key = true;
        g_mutex_unlock(&server->lock);
        gst_object_unref(appsrc);
        cv_server_request_key_frame(server);
        return;
    }
    // A frame that was exposed before the medium began has the time at which the medium began.
    GstClockTime pts = (GstClockTime)exposed > base ? (GstClockTime)exposed - base : 0;
    GstBuffer *copy = gst_buffer_copy(frame);
    GST_BUFFER_PTS(copy) = GST_BUFFER_DTS(copy) = pts;
    GstSample *moved = gst_sample_new(copy, gst_sample_get_caps(sample), NULL, NULL);
    gst_buffer_unref(copy);
    g_mutex_lock(&server->lock);
    server->is_waiting_for_key = false;
    server->newest = (server->newest + 1) % PENDING;
    server->pending[server->newest].pts = pts;
    server->pending[server->newest].exposed = exposed;
    g_mutex_unlock(&server->lock);
    gst_app_src_push_sample(GST_APP_SRC(appsrc), moved);
    gst_sample_unref(moved);
    gst_object_unref(appsrc);
}

/// Measures the latency of packets that leave the payloader. Each buffer ends an access unit, or the last buffer of
/// each buffer list.
static GstPadProbeReturn measure(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad;
    cv_server *server = context;
    GstBuffer *packet = NULL;
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
        guint length = gst_buffer_list_length(list);
        if (length > 0) packet = gst_buffer_list_get(list, length - 1);
    } else {
        packet = GST_PAD_PROBE_INFO_BUFFER(info);
    }
    // Only the last packet of an access unit has the marker flag.
    if (!packet || !GST_BUFFER_FLAG_IS_SET(packet, GST_BUFFER_FLAG_MARKER)) return GST_PAD_PROBE_OK;
    int64_t now = cv_now();
    g_mutex_lock(&server->lock);
    for (unsigned back = 0; back < PENDING; back++) {
        unsigned index = (server->newest + PENDING - back) % PENDING;
        if (server->pending[index].exposed == 0 || server->pending[index].pts != GST_BUFFER_PTS(packet)) continue;
        int64_t latency = now - server->pending[index].exposed;
        server->pending[index].exposed = 0;
        server->stats.frames++;
        server->stats.latency_sum += latency;
        server->stats.latency_max = MAX(server->stats.latency_max, latency);
        break;
    }
    g_mutex_unlock(&server->lock);
    return GST_PAD_PROBE_OK;
}

// MARK: Media, on the server's threads

static void set_source(cv_server *server, GstElement *appsrc) {
    g_mutex_lock(&server->lock);
    GstElement *old = server->appsrc;
    server->appsrc = appsrc;
    server->stats.is_wanted = appsrc != NULL;
    server->is_waiting_for_key = true;
    g_cond_broadcast(&server->changed);
    g_mutex_unlock(&server->lock);
    if (old) gst_object_unref(old);
}

static void unprepared(GstRTSPMedia *media, gpointer context) {
    cv_server *server = context;
    GstElement *element = gst_rtsp_media_get_element(media);
    GstElement *appsrc = gst_bin_get_by_name_recurse_up(GST_BIN(element), "units");
    g_mutex_lock(&server->lock);
    bool is_present = appsrc == server->appsrc;
    g_mutex_unlock(&server->lock);
    // A new medium of the RTSP server can be configured before the old medium has ended.
    if (is_present) set_source(server, NULL);
    if (appsrc) gst_object_unref(appsrc);
    gst_object_unref(element);
}

/// Sets the sinks so that they do not delay packets. By default a sink delays each packet by 20 ms while both UDP and
/// TCP clients are connected.
static void hurry(GstBin *pipeline, GstBin *bin, GstElement *element, gpointer context) {
    (void)pipeline;
    (void)bin;
    (void)context;
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "processing-deadline")) {
        g_object_set(element, "processing-deadline", (guint64)0, NULL);
    }
}

static void configure(GstRTSPMediaFactory *factory, GstRTSPMedia *media, gpointer context) {
    (void)factory;
    cv_server *server = context;
    GstElement *element = gst_rtsp_media_get_element(media);
    GstElement *payloader = gst_bin_get_by_name_recurse_up(GST_BIN(element), "pay0");
    if (payloader) {
        GstPad *pad = gst_element_get_static_pad(payloader, "src");
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, measure, server, NULL);
        gst_object_unref(pad);
        gst_object_unref(payloader);
    }
    GstObject *pipeline = gst_element_get_parent(element);
    if (pipeline) {
        g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(hurry), NULL);
        gst_object_unref(pipeline);
    }
    g_signal_connect(media, "unprepared", G_CALLBACK(unprepared), server);
    set_source(server, gst_bin_get_by_name_recurse_up(GST_BIN(element), "units"));
    gst_object_unref(element);
    cv_server_request_key_frame(server);
}

static gboolean keep_house(gpointer context) {
    cv_server *server = context;
    GstRTSPSessionPool *pool = gst_rtsp_server_get_session_pool(server->server);
    gst_rtsp_session_pool_cleanup(pool);
    g_object_unref(pool);
    cv_clients_check(server);
    return G_SOURCE_CONTINUE;
}

static gpointer run(gpointer context) {
    cv_server *server = context;
    g_main_context_push_thread_default(server->context);
    g_main_loop_run(server->loop);
    g_main_context_pop_thread_default(server->context);
    return NULL;
}

// MARK: Life

cv_server *cv_server_open(const char *address, uint16_t port, const char *path, uint32_t max_clients, int64_t idle_ns,
                          char error[CV_TEXT]) {
    cv_server *server = g_new0(cv_server, 1);
    g_mutex_init(&server->lock);
    g_cond_init(&server->changed);
    server->max_clients = max_clients;
    server->idle_ns = idle_ns;
    server->path = g_strdup(path);
    server->context = g_main_context_new();
    server->server = gst_rtsp_server_new();
    gst_rtsp_server_set_address(server->server, address);
    char service[8];
    g_snprintf(service, sizeof service, "%u", port);
    gst_rtsp_server_set_service(server->server, service);

    GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new();
    // The feed's parser repeats the parameter sets at each key frame. The payloader must not repeat them: it would also
    // insert them between the slices of one picture, and decoders would lose this picture.
    char *launch = g_strdup_printf(
        "( appsrc name=units is-live=true format=time block=false leaky-type=downstream max-buffers=%d max-bytes=0 "
        "caps=video/x-h264,stream-format=byte-stream,alignment=au "
        "! rtph264pay name=pay0 pt=96 config-interval=0 aggregate-mode=zero-latency )",
        QUEUE);
    gst_rtsp_media_factory_set_launch(factory, launch);
    g_free(launch);
    gst_rtsp_media_factory_set_shared(factory, TRUE);
    gst_rtsp_media_factory_set_latency(factory, 0);
    gst_rtsp_media_factory_set_eos_shutdown(factory, FALSE);
    gst_rtsp_media_factory_set_protocols(factory, GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP);
    g_signal_connect(factory, "media-configure", G_CALLBACK(configure), server);
    GstRTSPMountPoints *mounts = gst_rtsp_server_get_mount_points(server->server);
    gst_rtsp_mount_points_add_factory(mounts, path, factory);
    g_object_unref(mounts);
    GstRTSPSessionPool *pool = gst_rtsp_server_get_session_pool(server->server);
    gst_rtsp_session_pool_set_max_sessions(pool, max_clients);
    g_object_unref(pool);
    g_signal_connect(server->server, "client-connected", G_CALLBACK(cv_clients_connected), server);

    GError *problem = NULL;
    server->listener = gst_rtsp_server_create_source(server->server, NULL, &problem);
    if (!server->listener) {
        cv_set_text(error, CV_TEXT, problem ? problem->message : "the address cannot be used");
        g_clear_error(&problem);
        cv_server_close(server);
        return NULL;
    }
    g_source_attach(server->listener, server->context);
    server->port = (uint16_t)gst_rtsp_server_get_bound_port(server->server);
    server->housekeeping = g_timeout_source_new((guint)(MIN(idle_ns, 4000000000) / 2000000));
    g_source_set_callback(server->housekeeping, keep_house, server, NULL);
    g_source_attach(server->housekeeping, server->context);
    server->loop = g_main_loop_new(server->context, FALSE);
    server->thread = g_thread_new("eyes-rtsp", run, server);
    return server;
}

uint16_t cv_server_port(const cv_server *server) { return server->port; }

bool cv_server_wait(cv_server *server, bool is_wanted, int64_t timeout_ns) {
    gint64 end = g_get_monotonic_time() + timeout_ns / 1000;
    g_mutex_lock(&server->lock);
    while (server->stats.is_wanted == is_wanted && g_cond_wait_until(&server->changed, &server->lock, end)) {}
    bool result = server->stats.is_wanted;
    g_mutex_unlock(&server->lock);
    return result;
}

cv_server_stats cv_server_read(cv_server *server) {
    g_mutex_lock(&server->lock);
    cv_server_stats stats = server->stats;
    server->stats.latency_max = 0;
    g_mutex_unlock(&server->lock);
    return stats;
}

static gboolean quit(gpointer context) {
    g_main_loop_quit(context);
    return G_SOURCE_REMOVE;
}

void cv_server_close(cv_server *server) {
    if (server->thread) {
        cv_clients_remove(server);
        // The quit call is made from inside the loop, because a loop that has not begun yet would ignore the call.
        GSource *end = g_idle_source_new();
        g_source_set_callback(end, quit, server->loop, NULL);
        g_source_attach(end, server->context);
        g_source_unref(end);
        g_thread_join(server->thread);
        g_main_loop_unref(server->loop);
    }
    for (int index = 0; index < 2; index++) {
        GSource *source = index ? server->housekeeping : server->listener;
        if (!source) continue;
        g_source_destroy(source);
        g_source_unref(source);
    }
    GstRTSPMountPoints *mounts = gst_rtsp_server_get_mount_points(server->server);
    gst_rtsp_mount_points_remove_factory(mounts, server->path);
    g_object_unref(mounts);
    g_object_unref(server->server);
    set_source(server, NULL);
    cv_server_source(server, NULL);
    g_main_context_unref(server->context);
    g_free(server->path);
    g_mutex_clear(&server->lock);
    g_cond_clear(&server->changed);
    g_free(server);
}
