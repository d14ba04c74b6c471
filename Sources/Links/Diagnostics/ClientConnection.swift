import CLinuxShim
import GimbalCore
import Glibc
import SystemPackage
import Wire

/// One connection: what it sent, what it is owed, what it subscribed to. Lives on the server's thread.
final class ClientConnection {
    /// Streams that one connection may have.
    static let maximumStreams = 8

    let client: DiagnosticsClient
    let mayWrite: Bool
    let descriptor: FileDescriptor
    var input: LineBuffer
    var output = OutputBuffer()
    var streams: [Stream] = []
    var nextStream = 1
    /// Complete lines may wait in `input`.
    var hasLines = false
    /// A request takes its time; further ones wait for its answer.
    var isWaiting = false
    /// The client will send no more.
    var inputEnded = false
    /// The client cannot be reached any more; what it asked for before is still done.
    var outputBroken = false
    /// Whether there is room for more of what it sends.
    var wantsInput: Bool { !inputEnded && input.hasRoom }
    /// Whether a request may be answered now.
    var hasRequests: Bool { hasLines && !isWaiting }
    /// To be closed in this turn.
    var isFinished = false
    /// Time of the last request, or of the connection.
    var lastRequest: Instant
    /// When bytes last went out, or little enough was waiting.
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

    /// The connection as `ClientSlots` sees it.
    var standing: ClientSlots.Client {
        ClientSlots.Client(
            mayWrite: mayWrite, isStreaming: !streams.isEmpty || isWaiting,
            lastRequest: lastRequest)
    }

    /// Reads what is there, at most one chunk, so that a fast client does not keep others waiting.
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

    /// Sends what the kernel takes.
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

    /// Appends a message to the output, or drops it when the client is behind.
    ///
    /// - Parameters:
    ///   - index: Which of `streams`.
    ///   - backlog: Bytes above which the client is behind.
    ///   - sample: Reads the variables; not called for a message that is dropped.
    /// - Returns: Whether the message is on its way.
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

extension PeerCredentials {
    /// Asks the kernel who is at the other end of a connected UNIX socket; nil when it does not say.
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
            // An older kernel does not know the option: the primary group has to do.
            guard error == ERANGE else { return }
            capacity = count
        }
    }
}
