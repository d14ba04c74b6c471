#define _GNU_SOURCE
#include "CLinuxShimDatagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_in6) == CL_UDP_ADDRESS_SIZE, "size of the longest address");

int cl_udp_parse(const char *host, uint16_t port, uint8_t *address, uint32_t *length) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(address, &v4, sizeof v4);
        *length = sizeof v4;
        return 0;
    }
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) != 1) return EINVAL;
    memcpy(address, &v6, sizeof v6);
    *length = sizeof v6;
    return 0;
}

int cl_udp_text(const uint8_t *address, uint32_t length, char *host, size_t capacity, uint16_t *port) {
    if (length == sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        *port = ntohs(v4.sin_port);
        return inet_ntop(AF_INET, &v4.sin_addr, host, (socklen_t)capacity) ? 0 : errno;
    }
    if (length != sizeof(struct sockaddr_in6)) return EINVAL;
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    *port = ntohs(v6.sin6_port);
    return inet_ntop(AF_INET6, &v6.sin6_addr, host, (socklen_t)capacity) ? 0 : errno;
}

int cl_udp_open(const uint8_t *address, uint32_t length, int binds, int *descriptor) {
    struct sockaddr_storage storage = {0};
    if (length > sizeof storage) return EINVAL;
    memcpy(&storage, address, length);
    int fd = socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno;
    int yes = 1;
    if (binds) setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
    if (binds && bind(fd, (struct sockaddr *)&storage, length) != 0) {
        int error = errno;
        close(fd);
        return error;
    }
    *descriptor = fd;
    return 0;
}

int cl_udp_receive(int descriptor, void *bytes, size_t capacity, size_t *count, uint8_t *from, uint32_t *length) {
    struct sockaddr_storage storage;
    socklen_t size = sizeof storage;
    ssize_t result;
    do {
        result = recvfrom(descriptor, bytes, capacity, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&storage, &size);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return errno;
    if (size > CL_UDP_ADDRESS_SIZE) return EAFNOSUPPORT;
    memcpy(from, &storage, size);
    *length = size;
    *count = (size_t)result;
    return 0;
}

int cl_udp_send(int descriptor, const void *bytes, size_t count, const uint8_t *to, uint32_t length) {
    struct sockaddr_storage storage = {0};
    if (length > sizeof storage) return EINVAL;
    memcpy(&storage, to, length);
    ssize_t result;
    do {
        result = sendto(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&storage, length);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}
