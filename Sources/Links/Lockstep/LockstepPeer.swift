import CLinuxShim
import GimbalCore
import Glibc
import SystemPackage
import Threads
import Wire

/// The connected simulator, with its input and output. Only the server's thread uses a
/// `LockstepPeer`.
struct LockstepPeer {
    let descriptor: FileDescriptor
    var input = LineBuffer(limit: LockstepSample.longestLine)
    var output = OutputBuffer()
    /// True if the simulator has shut down its sending side.
    var hasEnded = false
    /// True if `input` can contain complete messages.
    var hasLines = false
    /// True if the kernel can already have more input from the simulator.
    var hasMore = false
    /// Time of the last message; before the first message, time of the connection.
    var lastLine: Instant
    /// True if the backend has been informed that the simulator is silent.
    var isSilent = false

    /// Reads at most one chunk of the simulator's input.
    mutating func read(into chunk: UnsafeMutableRawBufferPointer) {
        hasMore = false
        do {
            let count = try descriptor.read(into: chunk, retryOnInterrupt: true)
            hasEnded = count == 0
            hasMore = count == chunk.count
            input.append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            hasLines = true
        } catch Errno.wouldBlock {
            return
        } catch {
            hasEnded = true
            output.discard()
        }
    }

    /// Sends as much waiting output as the kernel accepts.
    mutating func flush() { if !output.send(to: descriptor) { hasEnded = true } }
}

/// Ended connection of a client. The connection stays open until its replies have been sent and its
/// input has ended. Otherwise the client could receive an error instead of its last replies.
struct LockstepClosingPeer {
    let descriptor: FileDescriptor
    var output: OutputBuffer
    /// Latest time at which the connection is closed.
    let deadline: Instant
    private var isShut = false
    private var hasEnded = false

    init(descriptor: FileDescriptor, output: OutputBuffer, deadline: Instant) {
        self.descriptor = descriptor
        self.output = output
        self.deadline = deadline
    }

    /// Events that poll(2) must wait for.
    var events: Int32 { (hasEnded ? 0 : POLLIN) | (output.isEmpty ? 0 : POLLOUT) }

    /// Sends the waiting output of an ended connection, and reads and discards its input.
    ///
    /// - Returns: True if the connection can be closed now.
    mutating func advance(_ chunk: UnsafeMutableRawBufferPointer, now: Instant) -> Bool {
        guard output.send(to: descriptor), now < deadline else { return true }
        if output.isEmpty, !isShut {
            shutdown(descriptor.rawValue, Int32(SHUT_WR))
            isShut = true
        }
        do {
            // Only one chunk is read in each iteration. Therefore many bytes on a refused
            // connection do not delay other connections.
            let count = try descriptor.read(into: chunk, retryOnInterrupt: true)
            hasEnded = count == 0
            return hasEnded && output.isEmpty
        } catch Errno.wouldBlock {
            return false
        } catch {
            return true
        }
    }
}

extension OutputBuffer {
    /// Sends as much waiting output as the kernel accepts.
    ///
    /// - Returns: True if the connection still accepts output; false if the connection has failed
    ///   and the buffer has been emptied.
    mutating func send(to descriptor: FileDescriptor) -> Bool {
        var isBroken = false
        _ = flush { bytes in
            var taken = 0
            let error = cl_socket_send(descriptor.rawValue, bytes.baseAddress, bytes.count, &taken)
            if error != 0, error != EAGAIN { isBroken = true }
            return taken
        }
        if isBroken { discard() }
        return !isBroken
    }
}
