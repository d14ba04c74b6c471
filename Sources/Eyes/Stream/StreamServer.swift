import CVideo
import Configuration

/// RTSP server with its thread. Any thread may use it; the handle is closed with the last
/// reference.
final class StreamServer: @unchecked Sendable {
    // The shim's functions take a lock.
    let handle: OpaquePointer

    /// Opens the port.
    ///
    /// - Parameters:
    ///   - host: Numeric address.
    ///   - port: Port; 0 for a free one.
    ///   - path: Path of the stream, such as `/stream`.
    ///   - maximumClients: Further clients are disconnected.
    /// - Throws: Why the port cannot be used.
    init(host: String, port: UInt16, path: String, maximumClients: Int) throws(VideoError) {
        let (handle, text) = withErrorText {
            cv_server_open(host, port, path, UInt32(maximumClients), $0)
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

    /// The port.
    var port: UInt16 { cv_server_port(handle) }

    /// Waits until the need for a stream differs from `isWanted`.
    ///
    /// - Returns: Whether a client needs the stream now.
    func wait(isWanted: Bool, seconds: Double) -> Bool {
        cv_server_wait(handle, isWanted, Int64(seconds * 1e9))
    }

    /// Counters since the start, and the largest latency since the last call. One thread reads
    /// them.
    func counters() -> cv_server_stats { cv_server_read(handle) }
}
