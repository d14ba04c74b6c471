// Shared by the files of this shim.
#ifndef CVIDEO_PRIVATE_H
#define CVIDEO_PRIVATE_H

#include "CVideo.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

/// Copies a text, and removes full stops and line ends at its end.
void cv_set_text(char *target, size_t size, const char *text);

/// Builds a pipeline; NULL with `error` on failure.
GstElement *cv_build(const char *description, char error[CV_TEXT]);

/// Starts a pipeline; false with `error` on failure.
bool cv_play(GstElement *pipeline, char error[CV_TEXT]);

/// Stops a pipeline and releases it.
void cv_release(GstElement *pipeline);

/// Waits for an error or the end of a pipeline.
cv_outcome cv_await(GstElement *pipeline, int64_t timeout_ns, char error[CV_TEXT]);

/// Time of a buffer on the clock, from the times of its sample and of its pipeline; -1 if unknown.
int64_t cv_time(GstElement *pipeline, GstSample *sample);

/// Passes an access unit to the clients. Streaming thread of a feed.
void cv_server_push(cv_server *server, GstSample *sample, int64_t exposed);

/// Requests a key frame from the encoder. No lock may be held.
void cv_server_request_key_frame(cv_server *server);

/// Passes an access unit to a file. Streaming thread of a feed.
void cv_recorder_push(cv_recorder *recorder, GstSample *sample, int64_t exposed);

/// Registers the encoder's pipeline that must send a key frame when a client begins; NULL: none.
void cv_server_source(cv_server *server, GstElement *pipeline);

#endif
