import CLinuxShim
import GimbalCore
import Glibc
import Port
import SystemPackage
import Threads
import Wire

/// Connection of a client of the diagnostics socket: its input, its output and its subscriptions.
/// Only the server's thread uses a `ClientConnection`.
final class ClientConnection {
    /// Largest number of streams that one connection can have.
    static let maximumStreams = 8

    private(set) var client: DiagnosticsClient
    private(set) var mayWrite: Bool
    /// True if the client has given up its write access with the parameter `read_only`.
    private var isReadOnly = false
    let descriptor: FileDescriptor
    var input: LineBuffer
    var output = OutputBuffer()
    var streams: [Stream] = []
    var nextStream = 1
    /// True if `input` can contain complete lines.
    var hasLines = false
    /// True if a request is still being executed; the client's further requests wait for the
    /// answer.
    var isWaiting = false
    /// True if the client has shut down its sending side; no more input then arrives.
    var inputEnded = false
    /// True if the client can no longer receive answers; its earlier requests are still executed.
    var outputBroken = false
    /// True if the connection's input buffer has room for more bytes.
    var wantsInput: Bool { !inputEnded && input.hasRoom }
    /// True if a request of this client can be answered now.
    var hasRequests: Bool { hasLines && !isWaiting }
    /// True if the server's thread must close the connection in this iteration.
    var isFinished = false
    /// Time of the last request; before the first request, time of the connection.
    var lastRequest: Instant
    /// Last time at which the client made progress: airframed sent output, or fewer than
    /// `replyBacklog` bytes of output waited.
    var progress: Instant

    init(
        descriptor: FileDescriptor, client: DiagnosticsClient, mayWrite: Bool, longestLine: Int,
        now: Instant
    ) {
        self.descriptor = descriptor
        self.client = client
        self.mayWrite = mayWrite
        input = LineBuffer(limit: longestLine)
        progress = now
        lastRequest = now
    }

    /// Sets the name of the connection; permitted only once. If the client requests read-only
    /// access, the connection loses its write access. A program that serves several people opens
    /// one connection for each person. Each connection has the person's name; the connection of a
    /// person without write access is read-only.
    ///
    /// - Throws: `Refusal` if a parameter is invalid, or if the connection already has a name; the
    ///   connection then does not change.
    func identify(_ parameters: Parameters) throws(Refusal) -> ClientIdentity {
        let givesUpWriting = try parameters.bool("read_only") == true
        let isAssistant = try parameters.bool("assistant") == true
        if let name = try parameters.string("name") {
            guard client.name.isEmpty else {
                throw Refusal(
                    .refused, "This connection has the name \"\(client.name)\".", field: "name")
            }
            guard (1...96).contains(name.utf8.count), name.unicodeScalars.allSatisfy(\.isPlain)
            else {
                throw Refusal(
                    .outOfRange,
                    "name must be a string of 1 to 96 bytes, without control characters.",
                    field: "name")
            }
            client.name = name
        }
        if givesUpWriting {
            mayWrite = false
            isReadOnly = true
        }
        if isAssistant { client.isAssistant = true }
        return ClientIdentity(
            name: CommandSource(client).description, canWrite: mayWrite)
    }

    /// Explains why the connection has no write access.
    ///
    /// - Parameter policy: Policy that determined the write access when the client connected.
    /// - Returns: Refusal of requests that need write access; nil if the connection has write access.
    func refusal(_ policy: AccessPolicy) -> Refusal? {
        if mayWrite { return nil }
        guard isReadOnly else { return Refusal(.permissionDenied, policy.sentence) }
        // The client's user can have write access, so other groups of the user are not the remedy.
        return Refusal(
            .permissionDenied,
            "This connection is read-only, because its client sent the parameter read_only. "
                + "To make changes, open a connection without read_only.",
            field: "read_only")
    }

    /// Properties of the connection that `ClientSlots` uses for its decision.
    var standing: ClientSlots.Client {
        ClientSlots.Client(
            mayWrite: mayWrite, isStreaming: !streams.isEmpty || isWaiting,
            lastRequest: lastRequest)
    }

    /// Reads at most as many bytes of the client's input as fit into `chunk`. Therefore a fast
    /// client does not delay other clients.
    ///
    /// - Parameter chunk: Scratch memory, shared by all clients.
    func read(into chunk: UnsafeMutableRawBufferPointer) {
        do {
            let count = try descriptor.read(into: chunk, retryOnInterrupt: true)
            if count == 0 {
                inputEnded = true
            } else {
                input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
            hasLines = true
        } catch Errno.wouldBlock {
            return
        } catch {
            inputEnded = true
            outputBroken = true
            hasLines = true
        }
    }

    /// Sends as much waiting output as the kernel accepts.
    func flush(now: Instant) {
        guard !outputBroken else { return output.discard() }
        guard !output.isEmpty else { return }
        var broken = false
        let sent = output.flush { bytes in
            var taken = 0
            let error = cl_socket_send(descriptor.rawValue, bytes.baseAddress, bytes.count, &taken)
            if error != 0, error != EAGAIN { broken = true }
            return taken
        }
        if sent > 0 || output.isEmpty { progress = now }
        if broken {
            outputBroken = true
            output.discard()
        }
    }

    /// Appends a message to the output. If the client does not read fast enough, the message is
    /// dropped.
    ///
    /// - Parameters:
    ///   - index: Index in `streams`.
    ///   - backlog: Limit of the waiting bytes; above this limit, the message is dropped.
    ///   - sample: Function that reads the subscribed variables; it is not called for a dropped
    ///     message.
    /// - Returns: True if the message was appended to the output.
    func sendStream(_ index: Int, backlog: Int, sample: ([Int]) -> VariableSample) -> Bool {
        guard output.count <= backlog else {
            streams[index].dropped += 1
            return false
        }
        let message = streams[index].message(sample(streams[index].indices))
        output.append { message.write(to: &$0) }
        return true
    }
}

extension Unicode.Scalar {
    /// True if the character is printable and does not end a line.
    fileprivate var isPlain: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }
}

extension PeerCredentials {
    /// Credentials of the peer of a connected UNIX socket, from the kernel; nil if unknown.
    init?(of descriptor: FileDescriptor) {
        self.init(pid: 0, user: 0, group: 0, supplementaryGroups: [])
        guard cl_socket_peer(descriptor.rawValue, &pid, &user, &group) == 0 else { return nil }
        var capacity = 64
        for _ in 0..<2 {
            var count = 0
            var groups = [UInt32](repeating: 0, count: capacity)
            let error = cl_socket_peer_groups(descriptor.rawValue, &groups, capacity, &count)
            if error == 0 {
                supplementaryGroups = Array(groups.prefix(count))
                return
            }
            // On kernels without SO_PEERGROUPS, only the primary group is checked.
            guard error == ERANGE else { return }
            capacity = count
        }
    }
}
