package import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket
import Synchronization

/// Web server without a listening socket: adds the handlers to each connection. Tests and fuzzers
/// use connections in memory.
package final class WebService: Sendable {
    let options: WebOptions
    let application: any WebApplication
    let policy: SitePolicy
    let ledger: Ledger
    private let open = Mutex<(next: UInt64, channels: [Ledger.ConnectionID: any Channel])>((0, [:]))

    /// Creates a service without connections.
    package init(_ options: WebOptions, _ application: any WebApplication) {
        self.options = options
        self.application = application
        policy = SitePolicy(options)
        ledger = Ledger(options.limits)
    }

    var channels: [any Channel] { open.withLock { Array($0.channels.values) } }

    /// Accepts or refuses a connection. Call this method on the connection's event loop.
    func accept(_ channel: any Channel, tls: NIOSSLContext?) throws {
        let address = channel.remoteAddress?.ipAddress ?? ""
        guard case .accepted(let id, let replaced) = ledger.admit(address, options.limits) else {
            throw ChannelError.eof
        }
        let victim = open.withLock { state in
            state.channels[id] = channel
            return replaced.flatMap { state.channels[$0] }
        }
        victim?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in
            ledger.leave(id)
            open.withLock { _ = $0.channels.removeValue(forKey: id) }
        }
        if let tls {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        }
        try configure(channel, address: address, id: id)
    }

    /// Adds the handlers of HTTP and WebSocket to a connection. Call this method on the
    /// connection's event loop.
    package func configure(_ channel: any Channel, address: String, id: UInt64 = 0) throws {
        let requests = RequestHandler(
            self, address: address, id: id, isSecure: options.tls != nil)
        let bound = NIOLoopBound(requests, eventLoop: channel.eventLoop)
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: options.limits.message, automaticErrorHandling: false,
            shouldUpgrade: { channel, head in
                channel.eventLoop.makeSucceededFuture(
                    head.method == .GET ? bound.value.upgrade(head) : nil)
            },
            upgradePipelineHandler: { [self] channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try begin(bound.value, on: channel)
                }
            })
        var headerLimits = NIOHTTPDecoderLimitConfiguration()
        headerLimits.maxHeaderFieldSize = options.limits.header
        headerLimits.maxHeaderListSize = options.limits.header
        headerLimits.maxHeaderFieldCount = 100
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }),
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: headerLimits)
        try pipeline.addHandler(requests)
    }

    private func begin(_ requests: RequestHandler, on channel: any Channel) throws {
        guard let (endpoint, request) = requests.accepted, channel.isActive else {
            throw ChannelError.eof
        }
        let id = open.withLock { state in
            state.next += 1
            return state.next
        }
        let session = WebSession(
            id: id, request: request, channel: channel, connection: requests.id, ledger: ledger,
            limits: options.limits)
        let pipeline = channel.pipeline.syncOperations
        _ = pipeline.removeHandler(requests)
        try pipeline.addHandler(SessionHandler(session, endpoint, ledger, options.limits))
    }
}
