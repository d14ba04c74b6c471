/// Cuts a stream of bytes into lines, with bounded memory.
///
/// Lines end with `\n`; a `\r` before it is dropped, for clients that send CRLF. A line longer than the limit is
/// reported once, as soon as the limit is passed, and everything up to its newline is thrown away.
struct LineBuffer {
    /// What `next()` found.
    enum Line: Equatable {
        /// A complete line without its end.
        case complete([UInt8])
        /// The line that arrives now is longer than the limit.
        case tooLong
    }

    /// Longest line, in bytes without its end.
    let limit: Int
    private var bytes: [UInt8] = []
    /// Start of what has not been handed out.
    private var start = 0
    /// Up to here there is no newline after `start`.
    private var scanned = 0
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// Bytes of a line whose end has not arrived.
    var hasPartialLine: Bool { start < bytes.count || isSkipping }

    /// Adds what was read. Call `next()` until it returns nil before adding more, or memory is not bounded.
    mutating func append(_ chunk: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            scanned -= start
            start = 0
        }
        bytes += chunk
    }

    /// The next line, nil when none is complete.
    mutating func next() -> Line? {
        guard let newline = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = bytes.count
            return endOfLineMissing()
        }
        let line = bytes[start..<newline]
        start = newline + 1
        scanned = start
        if isSkipping {
            isSkipping = false
            return next()
        }
        if line.count > limit + 1 { return .tooLong }
        let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return content.count > limit ? .tooLong : .complete(Array(content))
    }

    /// Keeps at most one line's worth, and says so when that is passed.
    private mutating func endOfLineMissing() -> Line? {
        let isLong = bytes.count - start > limit + 1
        if isSkipping || isLong {
            bytes = []
            start = 0
            scanned = 0
        } else if start == bytes.count {
            // Nothing left: give the memory of a long line back.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
            start = 0
            scanned = 0
        }
        guard isLong, !isSkipping else { return nil }
        isSkipping = true
        return .tooLong
    }
}
