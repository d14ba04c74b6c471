// UDP sockets for Swift. All names begin with cl_udp_. Every function returns 0 or a positive errno. The caller owns
// descriptors and memory. The functions are in C, because Swift can neither hash nor compare a sockaddr_storage.
#ifndef CLINUXSHIMDATAGRAM_H
#define CLINUXSHIMDATAGRAM_H

#include <stddef.h>
#include <stdint.h>

/// Size of the longest address that these functions use, bytes: sockaddr_in6.
#define CL_UDP_ADDRESS_SIZE 28

/// Converts a numeric address ("127.0.0.1", "::1") and a port into a socket address. Returns EINVAL for any other text.
/// The function sends no query to a name server.
int cl_udp_parse(const char *host, uint16_t port, uint8_t *address, uint32_t *length);

/// Converts a socket address into the numeric address as text, and the port.
int cl_udp_text(const uint8_t *address, uint32_t length, char *host, size_t capacity, uint16_t *port);

/// Opens a socket with socket(2), non-blocking and close-on-exec. The socket has the family of `address`, and is bound
/// to `address` if `binds` is not 0. The address need not exist yet (IP_FREEBIND), so that the process can start before
/// the network.
int cl_udp_open(const uint8_t *address, uint32_t length, int binds, int *descriptor);

/// Receives a datagram with recvfrom(2). Returns EAGAIN if no datagram waits. If the datagram is longer than
/// `capacity`, only its first `capacity` bytes are written; `*count` is the full length of the datagram.
int cl_udp_receive(int descriptor, void *bytes, size_t capacity, size_t *count, uint8_t *from, uint32_t *length);

/// Sends a datagram with sendto(2), without waiting.
int cl_udp_send(int descriptor, const void *bytes, size_t count, const uint8_t *to, uint32_t length);

#endif
