import CLinuxShim
import Client
import Dispatch
import NIOCore
import NIOPosix
import Port
import WebServing
import Wire

/// UNIX socket for `airframectl pair web`. Requests and answers have the format of airframed's
/// socket: one line each. The file mode and group of the socket determine the permitted users.
///
/// Methods: `pair` creates a pairing code; `browsers` lists the paired browsers; `revoke` removes
/// one paired browser, or all.
final class ControlSocket: Sendable {
    /// Longest request, bytes.
    static let lineLimit = 4096

    private let channel: any Channel
    /// Queue for the answers. A change of the list of browsers waits for the disk; the event loop
    /// must not wait, because it also serves the pages' connections to airframed.
    private let queue = DispatchQueue(label: "web-control")

    /// Opens the socket. The socket file of an earlier process is replaced.
    ///
    /// - Throws: `WebServerError` if the socket cannot be created.
    init(path: String, site: Site, address: @escaping @Sendable () -> String) throws {
        let bootstrap = ServerBootstrap(group: site.gateway.group)
            .serverChannelOption(.backlog, value: 4)
            // A client such as `nc -N` ends its side of the connection after its request.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [queue] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ControlLines(ControlMethods(site: site, address: address), on: queue))
                }
            }
        do {
            channel = try bootstrap.bind(
                unixDomainSocketPath: path, cleanupExistingSocketFile: true
            ).wait()
        } catch {
            throw WebServerError(listeningOn: path, error)
        }
        _ = cl_socket_permit(path, 0o660)
    }

    func stop() { try? channel.close().wait() }
}

/// The methods of the control socket.
struct ControlMethods: Sendable {
    let site: Site
    /// Present URL of the page.
    let address: @Sendable () -> String

    /// Answers one request.
    func answer(_ request: Request) throws(Refusal) -> JSONValue {
        switch request.method {
        case "pair":
            let seconds = request.params["seconds"]?.number ?? PairingTime.usual
            guard PairingTime.range.contains(seconds) else {
                throw Refusal(
                    .outOfRange, "seconds must be \(PairingTime.text).", field: "seconds")
            }
            let code = site.codes.open(seconds: seconds, now: DaemonClient.now())
            return .object([
                "code": .string(code), "address": .string(address()), "seconds": .double(seconds),
            ])
        case "browsers": return .array(site.book.browsers.map(Self.json))
        case "revoke":
            guard let id = request.params["id"]?.string else {
                throw Refusal(.invalidParams, "revoke needs the id of a browser.", field: "id")
            }
            let removed: [PairedBrowser]
            do {
                removed = try site.book.revoke { $0.id == id || id == "all" }
            } catch {
                throw Refusal(.internalError, "The list of browsers cannot be saved: \(error).")
            }
            guard !removed.isEmpty || id == "all" else {
                throw Refusal(
                    .unknownKey,
                    "There is no browser \(id.prefix(16)). `airframectl pair web --list` lists the paired browsers.",
                    field: "id")
            }
            site.endPagesOfForgotten()
            return .array(removed.map(Self.json))
        default: throw Refusal(.unknownMethod, "The methods are: pair, browsers, revoke.")
        }
    }

    private static func json(_ browser: PairedBrowser) -> JSONValue {
        .object([
            "id": .string(browser.id), "name": .string(browser.name),
            "created": .double(browser.created), "expires": .double(browser.expires),
        ])
    }
}

/// Handler of one client's requests on the control socket.
private final class ControlLines: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let methods: ControlMethods
    private let queue: DispatchQueue
    private var rest: [UInt8] = []

    init(_ methods: ControlMethods, on queue: DispatchQueue) {
        self.methods = methods
        self.queue = queue
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest += unwrapInboundIn(data).readableBytesView
        while let end = rest.firstIndex(of: 0x0A) {
            answer(Array(rest[..<end]), context.channel)
            rest.removeFirst(end + 1)
        }
        if rest.count > ControlSocket.lineLimit { context.close(promise: nil) }
    }

    private func answer(_ line: [UInt8], _ channel: any Channel) {
        queue.async { [methods] in
            channel.writeAndFlush(ByteBuffer(bytes: methods.reply(to: line)), promise: nil)
        }
    }

    /// Closes the connection after the last answer if the client has ended its side.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            let channel = context.channel
            queue.async {
                channel.writeAndFlush(ByteBuffer()).whenComplete { _ in
                    channel.close(promise: nil)
                }
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension ControlMethods {
    /// Answer to one line, as a line.
    fileprivate func reply(to line: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let t = Number(DaemonClient.now())
        do throws(RequestRejection) {
            let request = try Request(line: line)
            do throws(Refusal) {
                var result: [UInt8] = []
                try answer(request).write(to: &result)
                ReplyLine.append(id: request.id, t: t, result: result, to: &bytes)
            } catch {
                ReplyLine.append(id: request.id, t: t, error: error, to: &bytes)
            }
        } catch {
            ReplyLine.append(id: error.id, t: t, error: error.error, to: &bytes)
        }
        return bytes
    }
}
