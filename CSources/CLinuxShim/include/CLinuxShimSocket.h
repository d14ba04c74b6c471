// UNIX stream sockets for Swift. All names except cl_notify begin with cl_socket_. Every function returns 0 or a
// positive errno. The caller owns descriptors and memory.
#ifndef CLINUXSHIMSOCKET_H
#define CLINUXSHIMSOCKET_H

#include <stddef.h>
#include <stdint.h>

/// Longest path of a socket, bytes, without the terminating zero that sockaddr_un also contains. The constant is in C,
/// because Swift imports sun_path as a tuple of 108 elements.
#define CL_SOCKET_PATH_MAX 107

/// Creates a listener with socket(2), bind(2) and listen(2), non-blocking and close-on-exec. The mode of its file is
/// 0600 for every umask, so that other users cannot connect before the caller has set group and mode. The function is
/// in C, because sun_path is a tuple of 108 elements in Swift, and SOCK_STREAM is an enumeration that cannot be
/// combined with SOCK_NONBLOCK.
int cl_socket_listen(const char *path, int backlog, int *listener);

/// Changes owner and group of a socket's file; UINT32_MAX means no change. Returns EINVAL for another kind of file, for a
/// symbolic link, and for a file with a second name, because another process can have replaced the socket's file with a
/// file of another directory. The function is in C, because Swift's Glibc module hides O_PATH and AT_EMPTY_PATH.
int cl_socket_give(const char *path, uint32_t uid, uint32_t gid);

/// Changes the mode of a socket's file, and refuses the same files as cl_socket_give. The function is in C for the same
/// reason.
int cl_socket_permit(const char *path, uint32_t mode);

/// Connects with socket(2) and connect(2), non-blocking and close-on-exec. Returns EAGAIN if the listener's queue is
/// full. The function is in C for the same reasons as cl_socket_listen.
int cl_socket_connect(const char *path, int *connection);

/// Accepts a connection with accept4(2), non-blocking and close-on-exec. Returns EAGAIN if no client waits. The
/// function is in C, because the flags of accept4 are an enumeration whose values cannot be combined in Swift.
int cl_socket_accept(int listener, int *connection);

/// Sends bytes with send(2), without SIGPIPE and without waiting. `*sent` is 0 unless the function returns 0. The
/// function is in C, because MSG_NOSIGNAL and MSG_DONTWAIT are enumeration members.
int cl_socket_send(int connection, const void *bytes, size_t count, size_t *sent);

/// Waits with ppoll(2) for an event of `count` entries of type struct pollfd, for at most `timeout_ns`, which must not
/// be negative. `*ready` is 0 after the timeout and after a signal. The parameter has type void, because only Swift's
/// Glibc module may include <poll.h>. The function is in C, because Swift's Glibc module hides ppoll, and poll(2) has a
/// resolution of 1 ms, which is too coarse for a stream with a period of 5 ms.
int cl_socket_wait(void *entries, size_t count, int64_t timeout_ns, int *ready);

/// Reads the process, user and group of the peer at the time of its connect(2) (SO_PEERCRED). The function is in C,
/// because struct ucred needs _GNU_SOURCE, which Swift's Glibc module does not guarantee.
int cl_socket_peer(int connection, int32_t *pid, uint32_t *uid, uint32_t *gid);

/// Reads the supplementary groups of the peer (SO_PEERGROUPS). `*count` is the number of groups. If `capacity` is
/// smaller, the function returns ERANGE, and still sets `*count`. The function is in C, because Swift does not import
/// the option's macro on every system.
int cl_socket_peer_groups(int connection, uint32_t *groups, size_t capacity, size_t *count);

/// Sends `text` as a datagram to the notification socket of systemd (sd_notify(3)). `path` is the value of
/// NOTIFY_SOCKET; a leading `@` means the abstract namespace. The function never waits. It is in C for the same reasons
/// as cl_socket_listen.
int cl_notify(const char *path, const char *text);

#endif
