// UNIX stream sockets for Swift. Prefix cl_socket_; every function returns 0 or a positive errno; the caller owns
// descriptors and memory; no policy.
#ifndef CLINUXSHIMSOCKET_H
#define CLINUXSHIMSOCKET_H

#include <stddef.h>
#include <stdint.h>

/// Bytes of a socket path that fit sockaddr_un with its terminating zero (Swift imports sun_path as a 108-tuple).
#define CL_SOCKET_PATH_MAX 107

/// socket(2), bind(2), listen(2): a non-blocking, close-on-exec listener. The file appears with mode 0600 whatever
/// the umask says, so that nobody gets in before the caller has set group and mode. In C because sockaddr_un is a
/// 108-tuple in Swift and SOCK_STREAM an enumeration that does not combine with SOCK_NONBLOCK.
int cl_socket_listen(const char *path, int backlog, int *listener);

/// socket(2) and connect(2), non-blocking and close-on-exec. EAGAIN: the listener's queue is full. In C for the same
/// reasons as cl_socket_listen.
int cl_socket_connect(const char *path, int *connection);

/// accept4(2): a non-blocking, close-on-exec connection. EAGAIN when nobody waits. In C because the flags of accept4
/// are an enumeration that does not combine in Swift.
int cl_socket_accept(int listener, int *connection);

/// send(2) without SIGPIPE and without waiting; `*sent` is 0 unless the result is 0. In C because MSG_NOSIGNAL and
/// MSG_DONTWAIT are enumeration members.
int cl_socket_send(int connection, const void *bytes, size_t count, size_t *sent);

/// ppoll(2) over `count` struct pollfd, with a timeout in nanoseconds, not negative; `*ready` is 0 after the timeout and
/// after a signal. The type is hidden because <poll.h> must stay in Swift's Glibc module alone. In C because
/// Swift's Glibc module hides ppoll, and poll(2) counts whole milliseconds, too coarse for a 5 ms stream.
int cl_socket_wait(void *entries, size_t count, int64_t timeout_ns, int *ready);

/// SO_PEERCRED: who connected, as of connect(2). In C because struct ucred needs _GNU_SOURCE, which the module map of
/// Swift's Glibc does not promise.
int cl_socket_peer(int connection, int32_t *pid, uint32_t *uid, uint32_t *gid);

/// SO_PEERGROUPS: the supplementary groups of who connected. `*count` is set to how many there are, also with ERANGE
/// when `capacity` is too small. In C because Swift does not import the option's macro everywhere.
int cl_socket_peer_groups(int connection, uint32_t *groups, size_t capacity, size_t *count);

/// One datagram to the socket that systemd gave the service (sd_notify(3)); `path` as in NOTIFY_SOCKET, `@` first for the
/// abstract namespace. Never waits. In C for the same reasons as cl_socket_listen.
int cl_notify(const char *path, const char *text);

#endif
