import CLinuxShim
import GimbalCore
import Glibc
import SystemPackage
import Wire

/// The connected simulator: what it sent, what it is owed. Lives on the server's thread.
struct LockstepPeer {
    let descriptor: FileDescriptor
    var input = LineBuffer(limit: LockstepSample.longestLine)
    var output = OutputBuffer()
    /// The simulator will send no more.
    var hasEnded = false
    /// Complete lines may wait in `input`.
    var hasLines = false
    /// There may be more to read at once.
    var hasMore = false
    /// When the last line came, or the connection.
    var lastLine: Instant
    /// The silence that goes on has been told.
    var isSilent = false

    /// Reads what is there, at most one chunk.
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

    /// Sends what the kernel takes.
    mutating func flush() { if !output.send(to: descriptor) { hasEnded = true } }
}

/// A connection that is over for us: it still gets what it is owed, and may finish what it is sending, so that it reads
/// its last replies instead of an error.
struct LockstepLeaver {
    let descriptor: FileDescriptor
    var output: OutputBuffer
    /// Closed then at the latest.
    let deadline: Instant
    private var isShut = false
    private var hasEnded = false

    init(descriptor: FileDescriptor, output: OutputBuffer, deadline: Instant) {
        self.descriptor = descriptor
        self.output = output
        self.deadline = deadline
    }

    /// What to wait for.
    var events: Int32 { (hasEnded ? 0 : POLLIN) | (output.isEmpty ? 0 : POLLOUT) }

    /// Sends, reads and forgets.
    ///
    /// - Returns: Whether the connection can be closed now.
    mutating func advance(_ chunk: UnsafeMutableRawBufferPointer, now: Instant) -> Bool {
        guard output.send(to: descriptor), now < deadline else { return true }
        if output.isEmpty, !isShut {
            shutdown(descriptor.rawValue, Int32(SHUT_WR))
            isShut = true
        }
        do {
            // One chunk a turn: who floods a closed door keeps nobody waiting.
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
    /// Hands the kernel what it takes.
    ///
    /// - Returns: Whether the other end can still be reached; when not, the buffer is empty.
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
