// Raw CAN sockets. Conventions as in CHardwareShim.h.
#ifndef CHARDWARESHIMCAN_H
#define CHARDWARESHIMCAN_H

#include <linux/can.h>
#include <linux/can/error.h>
#include <stdint.h>

// MARK: SocketCAN (Documentation/networking/can.rst)

/// Opens a socket at an interface; it never blocks, and is closed on exec. The socket receives the frames that match one of the
/// filters, and no frame at all when there is none. `hears_errors`: also the controller's error frames, and each frame's
/// arrival is stamped. `uses_fd`: also frames of CAN FD. Up to seven calls.
int ch_can_open(
    const char *interface, const struct can_filter *filters, uint32_t count, int hears_errors, int uses_fd, int *fd);

/// Sends a frame: of CAN FD with switched bit rate when `is_fd`, whose `len` must then be a length of CAN FD.
int ch_can_send(int fd, const struct canfd_frame *frame, int is_fd);

/// Takes the next frame out of the socket's queue: EAGAIN when there is none. `age_ns` is the time since its arrival; 0 when the
/// kernel did not stamp it. Up to two calls.
int ch_can_receive(int fd, struct canfd_frame *frame, int *is_fd, int64_t *age_ns);

#endif
