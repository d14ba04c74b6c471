#include "CVideoPrivate.h"

/// Largest number of access units whose packets have arrived, but which are not decoded yet.
#define RECENT 256

struct cv_player {
    GstElement *pipeline;
    GstElement *sink;
    GMutex lock;
    struct {
        GstClockTime pts;
        int64_t arrived;
    } recent[RECENT];
    unsigned newest;
    GstSample *sample;
    GstMapInfo map;
};

static void note(cv_player *player, GstBuffer *packet, int64_t now) {
    unsigned index = player->newest;
    if (player->recent[index].pts != GST_BUFFER_PTS(packet)) index = player->newest = (index + 1) % RECENT;
    player->recent[index].pts = GST_BUFFER_PTS(packet);
    player->recent[index].arrived = now;
}

static GstPadProbeReturn arrive(GstPad *pad, GstPadProbeInfo *info, gpointer context) {
    (void)pad;
    cv_player *player = context;
    int64_t now = cv_now();
    g_mutex_lock(&player->lock);
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
        for (guint index = 0; index < gst_buffer_list_length(list); index++) note(player, gst_buffer_list_get(list, index), now);
    } else {
        note(player, GST_PAD_PROBE_INFO_BUFFER(info), now);
    }
    g_mutex_unlock(&player->lock);
    return GST_PAD_PROBE_OK;
}

cv_player *cv_player_open(const char *description, char error[CV_TEXT]) {
    GstElement *pipeline = cv_build(description, error);
    if (!pipeline) return NULL;
    cv_player *player = g_new0(cv_player, 1);
    player->pipeline = pipeline;
    g_mutex_init(&player->lock);
    player->sink = gst_bin_get_by_name(GST_BIN(pipeline), "pictures");
    GstElement *packets = gst_bin_get_by_name(GST_BIN(pipeline), "packets");
    if (packets) {
        GstPad *pad = gst_element_get_static_pad(packets, "src");
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, arrive, player, NULL);
        gst_object_unref(pad);
        gst_object_unref(packets);
    }
    if (!player->sink || !cv_play(pipeline, error)) {
        if (!player->sink) cv_set_text(error, CV_TEXT, "the pipeline has no appsink named pictures");
        cv_player_close(player);
        return NULL;
    }
    return player;
}

static void drop_sample(cv_player *player) {
    if (!player->sample) return;
    gst_buffer_unmap(gst_sample_get_buffer(player->sample), &player->map);
    gst_sample_unref(player->sample);
    player->sample = NULL;
}

cv_outcome cv_player_next(cv_player *player, cv_picture *picture, int64_t timeout_ns, char error[CV_TEXT]) {
    drop_sample(player);
    *picture = (cv_picture){0};
    GstSample *sample = gst_app_sink_try_pull_sample(GST_APP_SINK(player->sink), timeout_ns < 0 ? 0 : (GstClockTime)timeout_ns);
    // The sink reports the end of the stream before the message about the end is on the bus.
    if (!sample) return cv_await(player->pipeline, gst_app_sink_is_eos(GST_APP_SINK(player->sink)) ? GST_SECOND : 0, error);
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    if (!gst_buffer_map(buffer, &player->map, GST_MAP_READ)) {
        gst_sample_unref(sample);
        return CV_RUNNING;
    }
    player->sample = sample;
    picture->bytes = player->map.data;
    picture->size = player->map.size;
    GstStructure *structure = gst_caps_get_structure(gst_sample_get_caps(sample), 0);
    gst_structure_get_int(structure, "width", &picture->width);
    gst_structure_get_int(structure, "height", &picture->height);
    // Rows of a grey picture are padded to four bytes.
    picture->stride = (picture->width + 3) / 4 * 4;
    g_mutex_lock(&player->lock);
    for (unsigned back = 0; back < RECENT; back++) {
        unsigned index = (player->newest + RECENT - back) % RECENT;
        if (player->recent[index].arrived && player->recent[index].pts == GST_BUFFER_PTS(buffer)) {
            picture->arrived = player->recent[index].arrived;
            break;
        }
    }
    g_mutex_unlock(&player->lock);
    return CV_RUNNING;
}

void cv_player_close(cv_player *player) {
    drop_sample(player);
    if (player->sink) gst_object_unref(player->sink);
    cv_release(player->pipeline);
    g_mutex_clear(&player->lock);
    g_free(player);
}
