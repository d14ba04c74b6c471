#include "CVideoServerPrivate.h"

/// Longest time from a client's DESCRIBE request to its answer, as a multiple of `idle_ns`. The answer waits for the
/// first access unit of a camera that is being opened.
#define OPENING 3

/// Key of the times at which a connection without a session ends, a `deadlines`.
#define DEADLINE "airframe-deadline"

/// Times on CLOCK_MONOTONIC, ns.
typedef struct {
    /// Time at which a connection without a session ends.
    int64_t end;
    /// Latest value of `end`: a client could otherwise keep its connection with DESCRIBE requests only.
    int64_t latest;
} deadlines;

static void played(GstRTSPClient *client, GstRTSPContext *request, gpointer context) {
    (void)client;
    (void)request;
    cv_server_request_key_frame(context);
}

/// Moves the time at which a connection without a session ends.
static void extend(cv_server *server, GstRTSPClient *client, int64_t time, bool has_session) {
    g_mutex_lock(&server->lock);
    deadlines *deadline = g_object_get_data(G_OBJECT(client), DEADLINE);
    if (deadline) {
        int64_t now = cv_now();
        if (has_session) deadline->latest = now + (OPENING + 1) * server->idle_ns;
        deadline->end = MIN(now + time, deadline->latest);
    }
    g_mutex_unlock(&server->lock);
}

static GstRTSPStatusCode describing(GstRTSPClient *client, GstRTSPContext *request, gpointer context) {
    (void)request;
    cv_server *server = context;
    extend(server, client, OPENING * server->idle_ns, false);
    return GST_RTSP_STS_OK;
}

static void described(GstRTSPClient *client, GstRTSPContext *request, gpointer context) {
    (void)request;
    cv_server *server = context;
    extend(server, client, server->idle_ns, false);
}

static GstRTSPFilterResult check_client(GstRTSPServer *rtsp, GstRTSPClient *client, gpointer context) {
    (void)rtsp;
    cv_server *server = context;
    GList *sessions = gst_rtsp_client_session_filter(client, NULL, NULL);
    if (sessions) extend(server, client, server->idle_ns, true);
    g_list_free_full(sessions, g_object_unref);
    g_mutex_lock(&server->lock);
    const deadlines *deadline = g_object_get_data(G_OBJECT(client), DEADLINE);
    bool is_over = deadline && cv_now() > deadline->end;
    g_mutex_unlock(&server->lock);
    return is_over ? GST_RTSP_FILTER_REMOVE : GST_RTSP_FILTER_KEEP;
}

static void left(GstRTSPClient *client, gpointer context) {
    (void)client;
    cv_server *server = context;
    g_mutex_lock(&server->lock);
    server->stats.clients--;
    g_mutex_unlock(&server->lock);
}

static gboolean refuse(gpointer client) {
    gst_rtsp_client_close(client);
    return G_SOURCE_REMOVE;
}

void cv_clients_connected(GstRTSPServer *rtsp, GstRTSPClient *client, gpointer context) {
    (void)rtsp;
    cv_server *server = context;
    g_signal_connect(client, "closed", G_CALLBACK(left), server);
    g_signal_connect(client, "play-request", G_CALLBACK(played), server);
    g_signal_connect(client, "pre-describe-request", G_CALLBACK(describing), server);
    g_signal_connect(client, "describe-request", G_CALLBACK(described), server);
    deadlines *deadline = g_new(deadlines, 1);
    deadline->end = cv_now() + server->idle_ns;
    deadline->latest = deadline->end + OPENING * server->idle_ns;
    g_object_set_data_full(G_OBJECT(client), DEADLINE, deadline, g_free);
    g_mutex_lock(&server->lock);
    server->stats.clients++;
    server->stats.accepted++;
    bool is_full = server->stats.clients > server->max_clients;
    g_mutex_unlock(&server->lock);
    if (!is_full) return;
    // The client is removed later, because the server is still using the connection.
    GSource *end = g_idle_source_new();
    g_source_set_callback(end, refuse, g_object_ref(client), g_object_unref);
    g_source_attach(end, server->context);
    g_source_unref(end);
}

void cv_clients_check(cv_server *server) {
    g_list_free_full(gst_rtsp_server_client_filter(server->server, check_client, server), g_object_unref);
}

static GstRTSPFilterResult remove_client(GstRTSPServer *server, GstRTSPClient *client, gpointer context) {
    (void)server;
    (void)client;
    (void)context;
    return GST_RTSP_FILTER_REMOVE;
}

void cv_clients_remove(cv_server *server) { gst_rtsp_server_client_filter(server->server, remove_client, NULL); }
