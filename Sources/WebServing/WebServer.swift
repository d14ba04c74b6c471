import CLinuxShim
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// HTTP/1.1 and WebSocket server for airframed's companion programs. The class is thread-safe.
///
/// The server listens from its creation until `stop()`. All clients are served on the event-loop
/// threads, within `WebOptions.Limits`.
public final class WebServer: Sendable {
    private let service: WebService
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let certificate: ServerCertificate?

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - options: Address, names and limits.
    ///   - application: Application that answers the requests.
    /// - Throws: An error if the address is invalid or in use, or if the certificate cannot be
    ///   read.
    public init(_ options: WebOptions, _ application: any WebApplication) throws(WebServerError) {
        guard let endpoint = WebOptions.endpoint(options.listen) else {
            throw WebServerError(
                description:
                    "\(options.listen) is not an address with a port, such as 127.0.0.1:8000, or a UNIX socket, such as unix:/run/x.sock."
            )
        }
        let service = WebService(options, application)
        let certificate = try options.tls.map { tls throws(WebServerError) in
            try ServerCertificate(tls)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, min(8, options.threads)))
        let buffer = ChannelOptions.Types.SocketOption.Value(
            truncatingIfNeeded: options.limits.kernelBuffer)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .childChannelOption(.socketOption(.so_sndbuf), value: buffer)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 8192, high: 32768))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try service.accept(channel, tls: certificate?.context)
                }
            }
        do {
            switch endpoint {
            case .network(let host, let port):
                listener =
                    try bootstrap
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .bind(host: host, port: port).wait()
            case .file(let path):
                // A file of an earlier process is replaced.
                listener = try bootstrap.bind(
                    unixDomainSocketPath: path, cleanupExistingSocketFile: true
                ).wait()
                _ = cl_socket_permit(path, 0o660)
            }
        } catch {
            try? group.syncShutdownGracefully()
            throw WebServerError(listeningOn: options.listen, error)
        }
        self.service = service
        self.group = group
        self.certificate = certificate
    }

    /// Port on which the server listens; 0 for a UNIX socket.
    public var port: Int { listener.localAddress?.port ?? 0 }
    /// Number of open connections.
    public var connections: Int { service.ledger.open }
    /// Counters of the server since its start.
    public var counters: WebCounters { service.ledger.counters }
    /// Reason why the files of the certificate cannot be used since their last change; nil if there
    /// is no such problem. Until the files can be used, new connections use the earlier certificate.
    public var certificateProblem: String? { certificate?.problem }

    /// Reads the files of the certificate again if they have changed; new connections then use the
    /// new certificate. Call this method about once per second, but not on an event-loop thread,
    /// because the call waits for the disk.
    ///
    /// - Returns: The value of `certificateProblem`.
    @discardableResult
    public func renewCertificate() -> String? {
        certificate?.renew()
        return certificateProblem
    }

    /// Stops the server. The server accepts no new connections, sends a close frame (1001) to every
    /// session, and stops its threads. Call this method once, and not from a callback.
    ///
    /// - Parameter grace: Timeout of the remaining answers and close frames, s.
    public func stop(grace: Double = 1) {
        try? listener.close().wait()
        let channels = service.channels
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ServerStops()) }
        let deadline = NIODeadline.now() + .nanoseconds(Int64(grace * 1e9))
        for channel in channels {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            channel.closeFuture.cascade(to: promise)
            channel.eventLoop.scheduleTask(deadline: deadline) { channel.close(promise: nil) }
            try? promise.futureResult.wait()
        }
        try? group.syncShutdownGracefully()
    }
}

extension WebServerError {
    /// Creates the error of a socket that cannot accept connections.
    ///
    /// - Parameters:
    ///   - place: Address with a port, or the path of a UNIX socket.
    ///   - error: Error of NIO.
    public init(listeningOn place: String, _ error: any Error) {
        // The description of an IOError begins with the declaration of one of NIO's functions.
        let code = (error as? IOError)?.errnoCode
        let reason = code.map { String(cString: strerror($0)) } ?? "\(error)"
        let remedy =
            if place.contains("/") {
                "Does its directory exist, and can this program write there?"
            } else if code == EADDRINUSE {
                "Choose another address or port, or end the program that uses it."
            } else {
                "Choose another address or port."
            }
        self.init(description: "Cannot listen on \(place): \(reason). \(remedy)")
    }
}
