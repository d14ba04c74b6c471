// Video with GStreamer and its RTSP server. This header hides GObject: Swift uses handles, plain values and texts.
//
// Conventions: All names begin with `cv_`. The functions make no decisions, keep no global state except GStreamer's,
// and write no log. Times are in ns on CLOCK_MONOTONIC, which is the clock of all pipelines. If a function with a
// parameter `error` fails, it writes a sentence without a full stop to `error`.
//
// Structure: A *feed* is the pipeline of a camera and its encoder. It ends in an appsink named `frames`, which receives
// H.264 access units. A *server* owns the RTSP pipeline, which begins with an appsrc and is shared by all clients. The
// feed's streaming thread passes each access unit on to the server. The two pipelines are separate, because an error of
// a camera ends the camera's pipeline. In a common pipeline, the error would end the stream of all clients. A *player*
// is an RTSP client, for measurements and tests.
#ifndef CVIDEO_H
#define CVIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Size of the longest text with its terminating NUL, bytes.
#define CV_TEXT 512

/// Largest number of modes of a camera.
#define CV_MODES 96

/// Initializes GStreamer. The program must call this function once, before all other functions.
bool cv_start(char error[CV_TEXT]);

/// Result of a wait.
typedef enum { CV_RUNNING, CV_FAILED, CV_ENDED } cv_outcome;

/// Returns the present time.
int64_t cv_now(void);

/// Returns whether GStreamer has an element of this name.
bool cv_has_element(const char *name);

// MARK: Cameras

/// A frame rate of a camera, or a range of frame rates, as fractions, Hz. The fractions of a single rate are equal.
typedef struct {
    int32_t min_numerator, min_denominator, max_numerator, max_denominator;
} cv_rate;

/// A picture format of a camera. Width and height are ranges, because some cameras can scale pictures.
typedef struct {
    /// `video/x-raw`, `video/x-h264` or `image/jpeg`.
    char media[32];
    /// Raw format such as `YUY2`; empty for compressed pictures.
    char format[16];
    int32_t min_width, max_width, min_height, max_height;
    /// Frame rates; NULL if the camera does not state its rates.
    cv_rate *rates;
    int32_t rate_count;
} cv_mode;

/// A camera.
typedef struct {
    /// Name of the camera for display.
    char name[128];
    /// `/dev/video0`, or libcamera's name.
    char path[256];
    /// Kernel driver of a V4L2 device; empty for libcamera.
    char driver[64];
    bool is_libcamera;
    int32_t mode_count;
    cv_mode modes[CV_MODES];
} cv_camera;

/// Writes the connected cameras to `cameras`, at most `capacity`, and returns their number. The call can take some
/// hundred milliseconds. The caller must release the cameras with cv_cameras_release.
size_t cv_cameras(cv_camera *cameras, size_t capacity);

/// Releases the frame rates of cameras. `count` is the result of cv_cameras.
void cv_cameras_release(cv_camera *cameras, size_t count);

// MARK: Server

/// An RTSP server that runs in its own thread.
typedef struct cv_server cv_server;

/// State and counters of a server.
typedef struct {
    /// Number of present connections.
    uint32_t clients;
    /// Number of connections since the start.
    uint64_t accepted;
    /// True if a client needs the stream.
    bool is_wanted;
    /// Number of access units that were sent as RTP packets.
    uint64_t frames;
    /// Number of access units that were dropped, because the server's pipeline was too slow.
    uint64_t dropped;
    /// Time from a frame's exposure to its last RTP packet, ns: sum over all frames, and largest value since the
    /// previous cv_server_read.
    int64_t latency_sum, latency_max;
} cv_server_stats;

/// Opens a server at `address`:`port`, with the stream at `path`, such as `/stream`. A port of 0 means any free port. The
/// server closes connections that have had no RTSP session for `idle_ns`, ns.
cv_server *cv_server_open(const char *address, uint16_t port, const char *path, uint32_t max_clients, int64_t idle_ns,
                          char error[CV_TEXT]);

/// Returns the port of the server.
uint16_t cv_server_port(const cv_server *server);

/// Waits at most `timeout_ns` until `is_wanted` of the server's state differs from the parameter `is_wanted`. Returns
/// the present value, which is true if a client needs the stream.
bool cv_server_wait(cv_server *server, bool is_wanted, int64_t timeout_ns);

/// Reads the counters. Only one thread may call this function.
cv_server_stats cv_server_read(cv_server *server);

/// Disconnects all clients and ends the thread. The caller must close all feeds first.
void cv_server_close(cv_server *server);

// MARK: Feed

/// The running pipeline of a camera.
typedef struct cv_feed cv_feed;

/// A recording in an MP4 file.
typedef struct cv_recorder cv_recorder;

/// State of a recording.
typedef struct {
    /// Time of exposure of the first picture, which is time 0 in the file; 0 before the first picture.
    int64_t start;
    /// Number of access units in the file, and number of access units that were dropped because the disk was too slow.
    uint64_t frames, lost;
} cv_recorder_stats;

/// Creates the file of a recording.
cv_recorder *cv_recorder_open(const char *path, char error[CV_TEXT]);

cv_recorder_stats cv_recorder_read(cv_recorder *recorder);

/// Waits for an error of a recording, at most `timeout_ns`.
cv_outcome cv_recorder_wait(cv_recorder *recorder, int64_t timeout_ns, char error[CV_TEXT]);

/// Completes and closes the file; waits for the disk for at most 2 s. The caller must first end the recording of every
/// feed with cv_feed_record.
void cv_recorder_close(cv_recorder *recorder);

/// Counters of a feed.
typedef struct {
    /// Number of access units, and sum of their sizes, bytes.
    uint64_t frames, bytes;
    /// Number of pictures that the camera or the encoder dropped, computed from gaps between the times of exposure.
    uint64_t gaps;
    /// Time at which the encoder delivered the newest access unit; 0 before the first one.
    int64_t newest;
    /// Width and height of the pictures, pixels; 0 before the first access unit.
    int32_t width, height;
    /// True if the camera sends H.264, but the branch of the JPEG pictures has had no key frame since its last gap.
    bool stills_need_key;
} cv_feed_stats;

/// Starts a pipeline, which `description` states in the notation of gst-launch. `frame_ns` is the longest time between two
/// pictures if no picture is lost. After a gap, the parsers `shutter-units` and `gate-units` pass access units on only from
/// the next key frame.
cv_feed *cv_feed_open(const char *description, cv_server *server, int64_t frame_ns, char error[CV_TEXT]);

/// Waits for an error of a feed or the end of its stream, at most `timeout_ns`.
cv_outcome cv_feed_wait(cv_feed *feed, int64_t timeout_ns, char error[CV_TEXT]);

/// Changes a property of an element while the pipeline runs. Returns false if the element or the property does not
/// exist.
bool cv_feed_set(cv_feed *feed, const char *element, const char *property, const char *value);

/// Passes a test picture with its time of exposure to the feed's appsrc `pictures`. Returns false if the pipeline does
/// not accept the picture.
bool cv_feed_draw(cv_feed *feed, const uint8_t *bytes, size_t size, int64_t exposed);

/// Records the feed from the next key frame on, and requests a key frame. If `recorder` is NULL, the function ends the
/// feed's recording.
void cv_feed_record(cv_feed *feed, cv_recorder *recorder);

cv_feed_stats cv_feed_read(cv_feed *feed);

/// A picture for the models.
typedef struct {
    int32_t width, height;
    /// Time of exposure; -1 if unknown.
    int64_t exposed;
} cv_sample;

/// Copies the newest picture of the appsink `samples`, in the format RGB without gaps between rows. Returns false if no
/// picture arrives within the timeout, or if the picture does not fit. A second thread may call this function until the
/// feed is closed.
bool cv_feed_sample(cv_feed *feed, uint8_t *target, size_t capacity, cv_sample *sample, int64_t timeout_ns);

/// A picture as JPEG.
typedef struct {
    size_t size;
    /// Time of exposure; -1 if unknown.
    int64_t exposed;
} cv_still;

/// Copies the newest picture of the appsink `stills`, JPEG; false without one within the timeout, or if it does not fit. A second thread
/// may call it until the feed is closed.
bool cv_feed_still(cv_feed *feed, uint8_t *target, size_t capacity, cv_still *still, int64_t timeout_ns);

/// A line or a filled rectangle, pixels.
typedef struct {
    bool is_line;
    float x0, y0, x1, y1;
    /// Thickness of a line, pixels.
    int32_t thickness;
    uint8_t luma, u, v;
} cv_shape;

/// Draws shapes into each picture that passes the element `overlay`, until the given time. A second thread may call
/// this function until the feed is closed.
void cv_feed_overlay(cv_feed *feed, const cv_shape *shapes, size_t count, int64_t valid_until);

void cv_feed_close(cv_feed *feed);

// MARK: Player

/// An RTSP client.
typedef struct cv_player cv_player;

/// A decoded picture. It is valid until the next cv_player_next.
typedef struct {
    const uint8_t *bytes;
    size_t size;
    int32_t width, height, stride;
    /// Time of arrival of the picture's last RTP packet; 0 if unknown.
    int64_t arrived;
} cv_picture;

/// Starts a pipeline, which `description` states in the notation of gst-launch. The pipeline must end in an appsink
/// named `pictures`, and its RTP packets must pass through an identity element named `packets`.
cv_player *cv_player_open(const char *description, char error[CV_TEXT]);

/// Waits for the next picture. After the timeout the result is CV_RUNNING and `bytes` is NULL.
cv_outcome cv_player_next(cv_player *player, cv_picture *picture, int64_t timeout_ns, char error[CV_TEXT]);

void cv_player_close(cv_player *player);

#endif
