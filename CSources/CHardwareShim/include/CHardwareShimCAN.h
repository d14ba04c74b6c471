// Raw CAN sockets. The conventions are those of CHardwareShim.h.
#ifndef CHARDWARESHIMCAN_H
#define CHARDWARESHIMCAN_H

#include <linux/can.h>
#include <linux/can/error.h>
#include <stdint.h>

// MARK: SocketCAN (Documentation/networking/can.rst)

/// Opens a socket for a CAN interface; the socket never blocks, and is closed on exec. The socket receives the frames
/// that match one of the filters; without filters, it receives no frames. With `hears_errors`, the socket also receives
/// the controller's error frames, and the kernel stamps each frame with its time of arrival. With `uses_fd`, the socket
/// also receives frames of CAN FD. The function makes up to seven calls.
int ch_can_open(
    const char *interface, const struct can_filter *filters, uint32_t count, int hears_errors, int uses_fd, int *fd);

/// Sends a frame. With `is_fd`, the frame is sent in the format CAN FD with a switched bit rate, and its `len` must be
/// a length that CAN FD allows.
int ch_can_send(int fd, const struct canfd_frame *frame, int is_fd);

/// Takes the next frame out of the socket's queue; returns EAGAIN if the queue is empty. `age_ns` is the time since the
/// frame's arrival, or 0 if the kernel did not stamp the frame. The function makes up to two calls.
int ch_can_receive(int fd, struct canfd_frame *frame, int *is_fd, int64_t *age_ns);

#endif
