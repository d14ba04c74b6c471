import CVideo
import Configuration

/// RTSP server with its thread. Any thread can use a `StreamServer`. The server closes when its
/// last reference is released.
final class StreamServer: @unchecked Sendable {
    // The type is `@unchecked Sendable`, because the functions of the C library take a lock.
    let handle: OpaquePointer

    /// Opens the server's port.
    ///
    /// - Parameters:
    ///   - host: Numeric address on which the server listens.
    ///   - port: Port of the server; 0 means any free port.
    ///   - path: Path of the stream, such as `/stream`.
    ///   - maximumClients: Largest number of clients; additional clients are disconnected.
    ///   - idleSeconds: Time after which the server closes a connection without an RTSP session, s.
    /// - Throws: The reason why the port cannot be used.
    init(
        host: String, port: UInt16, path: String, maximumClients: Int, idleSeconds: Double = 10
    ) throws(VideoError) {
        let (handle, text) = withErrorText {
            cv_server_open(
                host, port, path, UInt32(maximumClients), Int64(idleSeconds * 1e9), $0)
        }
        guard let handle else {
            throw VideoError(
                "The RTSP server cannot use \(host):\(port): \(text). "
                    + "Does another program use the port? Change rtsp.listen, or stop that program."
            )
        }
        self.handle = handle
    }

    deinit { cv_server_close(handle) }

    /// Port on which the server listens.
    var port: UInt16 { cv_server_port(handle) }

    /// Waits until a first client needs the stream or the last client leaves, for at most
    /// `seconds`. `isWanted`: true if a client needed the stream before the call.
    ///
    /// - Returns: True if a client needs the stream now.
    func wait(isWanted: Bool, seconds: Double) -> Bool {
        cv_server_wait(handle, isWanted, Int64(seconds * 1e9))
    }

    /// Reads the counters of the stream since the start, and the largest latency since the last
    /// call. Call this method on one thread only.
    func counters() -> cv_server_stats { cv_server_read(handle) }
}
