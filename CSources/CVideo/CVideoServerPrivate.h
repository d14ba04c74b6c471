// Declarations that CVideoServer.c and CVideoClients.c share.
#ifndef CVIDEO_SERVER_PRIVATE_H
#define CVIDEO_SERVER_PRIVATE_H

#include "CVideoPrivate.h"

#include <gst/rtsp-server/rtsp-server.h>

/// Largest number of access units between the appsrc and the payloader whose time of exposure is stored.
#define PENDING 64

struct cv_server {
    GMainContext *context;
    GMainLoop *loop;
    GThread *thread;
    GstRTSPServer *server;
    GSource *listener;
    GSource *housekeeping;
    char *path;
    uint16_t port;
    uint32_t max_clients;
    int64_t idle_ns;
    GMutex lock;
    GCond changed;
    // The lock protects the following fields.
    GstElement *appsrc;
    GstElement *feed;
    bool is_waiting_for_key;
    cv_server_stats stats;
    struct {
        GstClockTime pts;
        int64_t exposed;
    } pending[PENDING];
    unsigned newest;
};

/// Handler of the signal `client-connected`; `context` is the server. If there are too many clients, the new client is
/// disconnected.
void cv_clients_connected(GstRTSPServer *rtsp, GstRTSPClient *client, gpointer context);

/// Closes the connections that have had no session for too long. The limit of clients counts connections, so idle
/// connections would otherwise exclude other clients permanently.
void cv_clients_check(cv_server *server);

/// Closes all connections.
void cv_clients_remove(cv_server *server);

#endif
