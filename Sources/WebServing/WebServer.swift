import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
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
        let context = try options.tls.map { tls throws(WebServerError) in try Self.context(tls) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, min(8, options.threads)))
        let buffer = ChannelOptions.Types.SocketOption.Value(
            truncatingIfNeeded: options.limits.kernelBuffer)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 128)
            .childChannelOption(.socketOption(.so_sndbuf), value: buffer)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 8192, high: 32768))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try service.accept(channel, tls: context)
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
                chmod(path, 0o660)
            }
        } catch {
            try? group.syncShutdownGracefully()
            throw WebServerError(listeningOn: options.listen, error)
        }
        self.service = service
        self.group = group
    }

    /// Port on which the server listens; 0 for a UNIX socket.
    public var port: Int { listener.localAddress?.port ?? 0 }
    /// Number of open connections.
    public var connections: Int { service.ledger.open }
    /// Counters of the server since its start.
    public var counters: WebCounters { service.ledger.counters }

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

    private static func context(_ tls: WebOptions.TLS) throws(WebServerError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(tls.certificate)
                    .map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw WebServerError(
                description:
                    "Cannot use the certificate \(tls.certificate) with the key \(tls.key): \(error). Both must be PEM files that this program can read."
            )
        }
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
