// Video through GStreamer and its RTSP server. GObject stays behind this header: Swift sees handles, plain values and texts.
//
// Conventions: prefix `cv_`; no policy, no global state except GStreamer's, no logging. Times are ns on CLOCK_MONOTONIC, which
// is the clock of all pipelines. A function with `error` writes a sentence without a full stop to it on failure.
//
// The shape: a *feed* is the pipeline of a camera and its encoder. It ends in an appsink named `frames`, which receives H.264
// access units. A *server* owns the RTSP part: one shared medium that begins with an appsrc. The feed's streaming thread passes
// each access unit on to the server. The two are separate pipelines, because an error of a camera ends its pipeline, and a
// pipeline that contained the clients would end for them too. A *player* is an RTSP client, for measurements and tests.
#ifndef CVIDEO_H
#define CVIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Longest text with its NUL, bytes.
#define CV_TEXT 512

/// Largest number of modes of a camera.
#define CV_MODES 96

/// Initialises GStreamer; once, before all other functions.
bool cv_start(char error[CV_TEXT]);

/// Result of a wait.
typedef enum { CV_RUNNING, CV_FAILED, CV_ENDED } cv_outcome;

/// Present time.
int64_t cv_now(void);

/// Whether GStreamer has an element of this name.
bool cv_has_element(const char *name);

// MARK: Cameras

/// A picture format of a camera, with ranges for cameras that scale.
typedef struct {
    /// `video/x-raw`, `video/x-h264` or `image/jpeg`.
    char media[32];
    /// Raw format such as `YUY2`; empty for compressed pictures.
    char format[16];
    int32_t min_width, max_width, min_height, max_height;
    /// Pictures per second; 0 if the camera does not state it.
    double max_rate;
} cv_mode;

/// A camera.
typedef struct {
    /// Name for people.
    char name[128];
    /// `/dev/video0`, or libcamera's name.
    char path[256];
    /// Kernel driver of a V4L2 device; empty for libcamera.
    char driver[64];
    bool is_libcamera;
    int32_t mode_count;
    cv_mode modes[CV_MODES];
} cv_camera;

/// Writes the cameras that are connected, at most `capacity`; returns their number. It can take some 100 ms.
size_t cv_cameras(cv_camera *cameras, size_t capacity);

// MARK: Server

/// An RTSP server with its thread.
typedef struct cv_server cv_server;

/// State and counters of a server.
typedef struct {
    /// Connections.
    uint32_t clients;
    /// Connections since the start.
    uint64_t accepted;
    /// Whether a client needs the stream.
    bool is_wanted;
    /// Access units that left as packets.
    uint64_t frames;
    /// Access units that were dropped, because the network part was behind.
    uint64_t dropped;
    /// Sum over all frames, and largest since the last call, of the time from exposure to the last RTP packet, ns.
    int64_t latency_sum, latency_max;
} cv_server_stats;

/// Opens a server at `address`:`port` (0: a free port), with the stream at `path`, such as `/stream`.
cv_server *cv_server_open(const char *address, uint16_t port, const char *path, uint32_t max_clients, char error[CV_TEXT]);

/// The port.
uint16_t cv_server_port(const cv_server *server);

/// Waits until the need for a stream differs from `is_wanted`; returns the present need.
bool cv_server_wait(cv_server *server, bool is_wanted, int64_t timeout_ns);

/// Reads the counters. Only one thread may call it.
cv_server_stats cv_server_read(cv_server *server);

/// Disconnects all clients and ends the thread. Feeds must have been closed.
void cv_server_close(cv_server *server);

// MARK: Feed

/// A running pipeline of a camera.
typedef struct cv_feed cv_feed;

/// A recording as an MP4 file.
typedef struct cv_recorder cv_recorder;

/// State of a recording.
typedef struct {
    /// Exposure of the first picture, which is the file's time 0; 0 before it.
    int64_t start;
    /// Access units in the file, and those that were left out because the disk was behind.
    uint64_t frames, lost;
} cv_recorder_stats;

/// Creates the file.
cv_recorder *cv_recorder_open(const char *path, char error[CV_TEXT]);

cv_recorder_stats cv_recorder_read(cv_recorder *recorder);

/// Waits for an error.
cv_outcome cv_recorder_wait(cv_recorder *recorder, int64_t timeout_ns, char error[CV_TEXT]);

/// Completes the file; waits for the disk for 2 s at most. No feed may have it.
void cv_recorder_close(cv_recorder *recorder);

/// Counters of a feed.
typedef struct {
    /// Access units, and their bytes.
    uint64_t frames, bytes;
    /// Pictures that the camera or the encoder left out, from gaps between the times of exposure.
    uint64_t gaps;
    /// Time of the newest access unit; 0 before the first.
    int64_t newest;
    /// Width and height; 0 before the first access unit.
    int32_t width, height;
} cv_feed_stats;

/// Starts a pipeline from gst-launch's notation. `frame_ns`: duration of a frame.
cv_feed *cv_feed_open(const char *description, cv_server *server, int64_t frame_ns, char error[CV_TEXT]);

/// Waits for an error or the end of the stream.
cv_outcome cv_feed_wait(cv_feed *feed, int64_t timeout_ns, char error[CV_TEXT]);

/// Changes a property of an element while the pipeline runs; false if the element or the property does not exist.
bool cv_feed_set(cv_feed *feed, const char *element, const char *property, const char *value);

/// Passes a picture to the appsrc `pictures`, with its time of exposure; false if the pipeline does not accept it.
bool cv_feed_draw(cv_feed *feed, const uint8_t *bytes, size_t size, int64_t exposed);

/// Records from the next key frame on, and requests one; NULL ends the recording.
void cv_feed_record(cv_feed *feed, cv_recorder *recorder);

cv_feed_stats cv_feed_read(cv_feed *feed);

void cv_feed_close(cv_feed *feed);

// MARK: Player

/// An RTSP client.
typedef struct cv_player cv_player;

/// A decoded picture; valid until the next call.
typedef struct {
    const uint8_t *bytes;
    size_t size;
    int32_t width, height, stride;
    /// Arrival of the picture's last RTP packet; 0 if unknown.
    int64_t arrived;
} cv_picture;

/// Starts a pipeline that ends in an appsink `pictures`, and whose RTP packets pass through an identity `packets`.
cv_player *cv_player_open(const char *description, char error[CV_TEXT]);

/// Waits for the next picture. CV_RUNNING without a picture (`bytes` NULL) after the timeout.
cv_outcome cv_player_next(cv_player *player, cv_picture *picture, int64_t timeout_ns, char error[CV_TEXT]);

void cv_player_close(cv_player *player);

#endif
