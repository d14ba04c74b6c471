#define _GNU_SOURCE
#include "CLinuxShimSocket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == CL_SOCKET_PATH_MAX + 1, "sun_path");
_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "gid_t");

static int make_address(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    if (length > CL_SOCKET_PATH_MAX) return ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}

static int close_with(int fd, int error) {
    close(fd);
    return error;
}

int cl_socket_listen(const char *path, int backlog, int *listener) {
    struct sockaddr_un address;
    int error = make_address(path, &address);
    if (error) return error;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno;
    // bind(2) creates the file with the mode of the socket's inode, from which it removes the bits of the umask.
    if (fchmod(fd, 0600) != 0) return close_with(fd, errno);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return close_with(fd, errno);
    if (listen(fd, backlog) != 0) {
        error = errno;
        unlink(path);
        return close_with(fd, error);
    }
    *listener = fd;
    return 0;
}

// Opens the socket's file itself, neither the target of a link nor a file with a second name.
static int open_file(const char *path, int *file) {
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    struct stat info;
    if (fstat(fd, &info) != 0) return close_with(fd, errno);
    if (!S_ISSOCK(info.st_mode) || info.st_nlink != 1) return close_with(fd, EINVAL);
    *file = fd;
    return 0;
}

int cl_socket_give(const char *path, uint32_t uid, uint32_t gid) {
    int file;
    int error = open_file(path, &file);
    if (error) return error;
    int result = fchownat(file, "", uid, gid, AT_EMPTY_PATH);
    return close_with(file, result == 0 ? 0 : errno);
}

int cl_socket_permit(const char *path, uint32_t mode) {
    int file;
    int error = open_file(path, &file);
    if (error) return error;
    // fchmod(2) refuses a descriptor of O_PATH, and only Linux 6.6 and newer have fchmodat2(2).
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int result = chmod(name, mode);
    return close_with(file, result == 0 ? 0 : errno);
}

int cl_socket_connect(const char *path, int *connection) {
    struct sockaddr_un address;
    int error = make_address(path, &address);
    if (error) return error;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno;
    int result;
    do {
        result = connect(fd, (struct sockaddr *)&address, sizeof address);
    } while (result != 0 && errno == EINTR);
    if (result != 0) return close_with(fd, errno);
    *connection = fd;
    return 0;
}

int cl_socket_accept(int listener, int *connection) {
    int fd;
    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return errno;
    *connection = fd;
    return 0;
}

int cl_socket_send(int connection, const void *bytes, size_t count, size_t *sent) {
    *sent = 0;
    ssize_t result;
    do {
        result = send(connection, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return errno;
    *sent = (size_t)result;
    return 0;
}

int cl_socket_wait(void *entries, size_t count, int64_t timeout_ns, int *ready) {
    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / 1000000000),
        .tv_nsec = (long)(timeout_ns % 1000000000),
    };
    int result = ppoll(entries, (nfds_t)count, &timeout, NULL);
    *ready = result > 0 ? result : 0;
    return result < 0 && errno != EINTR ? errno : 0;
}

int cl_socket_peer(int connection, int32_t *pid, uint32_t *uid, uint32_t *gid) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return errno;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

int cl_socket_peer_groups(int connection, uint32_t *groups, size_t capacity, size_t *count) {
    socklen_t size = (socklen_t)(capacity * sizeof(uint32_t));
    int error = 0;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) error = errno;
    *count = error == 0 || error == ERANGE ? size / sizeof(uint32_t) : 0;
    return error;
}
