// Declarations that the files of this library share.
#ifndef CVIDEO_PRIVATE_H
#define CVIDEO_PRIVATE_H

#include "CVideo.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/// Copies a text, and removes full stops and line ends at its end.
void cv_set_text(char *target, size_t size, const char *text);

/// Builds a pipeline. On failure returns NULL and writes `error`.
GstElement *cv_build(const char *description, char error[CV_TEXT]);

/// Starts a pipeline. On failure returns false and writes `error`.
bool cv_play(GstElement *pipeline, char error[CV_TEXT]);

/// Stops a pipeline and releases it.
void cv_release(GstElement *pipeline);

/// Waits for an error or the end of a pipeline.
cv_outcome cv_await(GstElement *pipeline, int64_t timeout_ns, char error[CV_TEXT]);

/// Returns the time of a sample's buffer on CLOCK_MONOTONIC, computed from its segment and the base time of its
/// pipeline; -1 if it is unknown.
int64_t cv_time(GstElement *pipeline, GstSample *sample);

/// Passes an access unit to the clients. Only the streaming thread of a feed may call it.
void cv_server_push(cv_server *server, GstSample *sample, int64_t exposed);

/// Requests a key frame from the encoder. The caller must not hold a lock.
void cv_server_request_key_frame(cv_server *server);

/// Passes an access unit to a file. Only the streaming thread of a feed may call it.
void cv_recorder_push(cv_recorder *recorder, GstSample *sample, int64_t exposed);

/// Pictures of a feed for the models (`sink`) and as JPEG (`stills`), and shapes over its pictures.
typedef struct {
    GstElement *pipeline, *sink, *stills;
    GMutex lock;
    cv_shape *shapes;
    size_t count;
    int64_t valid_until;
    /// Atomic; true while the H.264 branch of the sink or of the stills waits for a key frame.
    gint sink_waits, stills_wait;
} cv_pictures;

/// Finds the elements `samples`, `stills`, `overlay`, `gate-units` and `shutter-units` of a pipeline.
void cv_pictures_find(cv_pictures *pictures, GstElement *pipeline);

/// Releases the elements that `cv_pictures_find` has found. The pipeline must have been stopped.
void cv_pictures_release(cv_pictures *pictures);

/// Copies the newest picture, see `cv_feed_sample`.
bool cv_pictures_pull(cv_pictures *pictures, uint8_t *target, size_t capacity, cv_sample *info, int64_t timeout_ns);

/// Copies the newest JPEG picture, see `cv_feed_still`.
bool cv_pictures_still(cv_pictures *pictures, uint8_t *target, size_t capacity, cv_still *still, int64_t timeout_ns);

/// Sets the shapes, see `cv_feed_overlay`.
void cv_pictures_set(cv_pictures *pictures, const cv_shape *shapes, size_t count, int64_t valid_until);

/// Draws the shapes into a picture. The function is a probe of the element `overlay`.
GstPadProbeReturn cv_pictures_draw(GstPad *pad, GstPadProbeInfo *info, gpointer context);

/// Sets the pipeline whose encoder must send a key frame when a client begins to receive the stream; NULL means none.
void cv_server_source(cv_server *server, GstElement *pipeline);
/// Removes this pipeline. The call has no effect if another pipeline has already replaced it.
void cv_server_leave(cv_server *server, GstElement *pipeline);

#endif
