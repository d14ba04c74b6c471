#define _GNU_SOURCE
#include "CHardwareShimCAN.h"

#include <errno.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int set_up(
    int fd, const char *interface, const struct can_filter *filters, uint32_t count, int hears_errors, int uses_fd
) {
    const int on = 1;
    const can_err_mask_t errors = CAN_ERR_MASK;
    struct sockaddr_can address = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(interface)};
    if (address.can_ifindex == 0) return ENODEV;
    if (setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, filters, count * sizeof *filters) < 0) return errno;
    if (hears_errors && setsockopt(fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, &errors, sizeof errors) < 0) return errno;
    if (uses_fd && setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) < 0) return errno;
    // A failure is ignored: without time stamps, every frame counts as new.
    if (hears_errors) (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
}

int ch_can_open(
    const char *interface, const struct can_filter *filters, uint32_t count, int hears_errors, int uses_fd, int *fd
) {
    *fd = socket(PF_CAN, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, CAN_RAW);
    if (*fd < 0) return errno;
    const int error = set_up(*fd, interface, filters, count, hears_errors, uses_fd);
    if (error == 0) return 0;
    close(*fd);
    *fd = -1;
    return error;
}

int ch_can_send(int fd, const struct canfd_frame *frame, int is_fd) {
    struct canfd_frame copy = *frame;
    copy.flags = is_fd ? CANFD_BRS : 0;
    const size_t size = is_fd ? CANFD_MTU : CAN_MTU;
    const ssize_t sent = send(fd, &copy, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno;
    return (size_t)sent == size ? 0 : EIO;
}

// The time stamp is on CLOCK_REALTIME. If this clock has been set since the arrival, the age is implausible, and is
// returned as 0.
static int64_t age(const struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR((struct msghdr *)message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec then, now;
        memcpy(&then, CMSG_DATA(c), sizeof then);
        clock_gettime(CLOCK_REALTIME, &now);
        const int64_t passed = (int64_t)(now.tv_sec - then.tv_sec) * 1000000000 + now.tv_nsec - then.tv_nsec;
        return passed < 0 || passed > 100000000 ? 0 : passed;
    }
    return 0;
}

int ch_can_receive(int fd, struct canfd_frame *frame, int *is_fd, int64_t *age_ns) {
    char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec part = {.iov_base = frame, .iov_len = sizeof *frame};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT);
    if (got < 0) return errno;
    if (got != CAN_MTU && got != CANFD_MTU) return EBADMSG;
    *is_fd = got == CANFD_MTU;
    if (frame->len > (*is_fd ? CANFD_MAX_DLEN : CAN_MAX_DLEN)) return EBADMSG;
    *age_ns = age(&message);
    return 0;
}
