import GimbalCore
import Recording

/// Files that wait for the disk: at most one file of a fault, and one requested file. The limit
/// bounds the memory of the chunks while the disk hangs.
struct WaitingFiles: Sendable {
    /// File of a fault, with all chunks around the fault.
    struct FaultFile: Sendable {
        /// Reason for writing the file, a part of the file's name.
        let reason: String
        let chunks: [MCAPChunk]
        /// Time of the next attempt after a failure, on CLOCK_MONOTONIC; nil before the first
        /// attempt.
        fileprivate(set) var next: Instant?
    }

    /// Requested file. Its chunks are in the ring buffer.
    struct RequestedFile: Sendable, Equatable {
        /// Number of the first chunk. The file ends with the newest chunk.
        var first: UInt64
        /// Number of requests for the file.
        var requests: Int
    }

    /// The file of a fault, until it is written.
    private(set) var fault: FaultFile?
    /// The requested file, until the disk's thread takes it.
    private var requested: RequestedFile?
    /// Number of discarded files of faults, because the file of an earlier fault waits.
    private(set) var discarded = 0
    /// Time between two attempts to write a file, s.
    private static let pause = 10.0

    /// Adds the file of a fault.
    ///
    /// - Returns: False if the file is discarded, because the file of an earlier fault waits.
    mutating func add(_ reason: String, _ chunks: [MCAPChunk]) -> Bool {
        guard fault == nil else {
            discarded += 1
            return false
        }
        fault = FaultFile(reason: reason, chunks: chunks)
        return true
    }

    /// Requests a file from a chunk to the newest chunk. If a requested file waits, it is extended.
    mutating func request(from first: UInt64) {
        let earlier = requested ?? RequestedFile(first: first, requests: 0)
        requested = RequestedFile(
            first: min(earlier.first, first), requests: earlier.requests + 1)
    }

    /// Removes the requested file, because it is being written; nil if no requested file waits.
    mutating func takeRequested() -> RequestedFile? {
        defer { requested = nil }
        return requested
    }

    /// The file of a fault, unless the time of the next attempt is later than `now`.
    func due(now: Instant) -> FaultFile? {
        fault.flatMap { file in file.next.map { now < $0 } == true ? nil : file }
    }

    /// Ends an attempt to write the file of a fault. After a failure, the file waits for the next
    /// attempt.
    ///
    /// - Parameters:
    ///   - isWritten: True if the file is complete.
    ///   - now: Present time on CLOCK_MONOTONIC.
    /// - Returns: True if this was the first attempt.
    mutating func endFault(isWritten: Bool, now: Instant) -> Bool {
        let isFirst = fault?.next == nil
        if isWritten {
            fault = nil
            discarded = 0
        } else {
            fault?.next = now.advanced(bySeconds: Self.pause)
        }
        return isFirst
    }

    /// Problem, and its remedy; nil if no file was discarded.
    var problem: String? {
        guard discarded > 0 else { return nil }
        return
            "The disk has not stored the recording of an earlier fault yet; the recordings of \(discarded) later faults are discarded. Check the disk with `dmesg`."
    }
}
