// UDP sockets for Swift. Prefix cl_udp_; every function returns 0 or a positive errno; the caller owns descriptors and
// memory; no policy. In C because sockaddr_storage and its casts are no type that Swift can hash or compare.
#ifndef CLINUXSHIMDATAGRAM_H
#define CLINUXSHIMDATAGRAM_H

#include <stddef.h>
#include <stdint.h>

/// Bytes of the longest address that these functions use: sockaddr_in6.
#define CL_UDP_ADDRESS_SIZE 28

/// A numeric address ("127.0.0.1", "::1") and a port as a socket address; EINVAL for anything else. Asks no name server.
int cl_udp_parse(const char *host, uint16_t port, uint8_t *address, uint32_t *length);

/// The numeric address and port of a socket address, as text.
int cl_udp_text(const uint8_t *address, uint32_t length, char *host, size_t capacity, uint16_t *port);

/// socket(2), non-blocking and close-on-exec; bound to `address` when `binds`, otherwise only of its family. Binding does
/// not wait for the address to exist (IP_FREEBIND): a network that comes up later must not keep the process from starting.
int cl_udp_open(const uint8_t *address, uint32_t length, int binds, int *descriptor);

/// recvfrom(2); EAGAIN when nothing waits. A datagram that is longer than `capacity` is cut, and `*count` is its length.
int cl_udp_receive(int descriptor, void *bytes, size_t capacity, size_t *count, uint8_t *from, uint32_t *length);

/// sendto(2), never waiting.
int cl_udp_send(int descriptor, const void *bytes, size_t count, const uint8_t *to, uint32_t length);

#endif
