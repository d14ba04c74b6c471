import Glibc

/// Splitter of a byte stream into lines, with bounded memory.
///
/// Lines end with `\n`; a `\r` before the end is dropped, for clients that send CRLF. A line longer
/// than the limit is reported once, as soon as the limit is exceeded. The rest of the line is
/// dropped.
public struct LineBuffer: Sendable {
    /// Result of `next()`.
    public enum Line: Equatable, Sendable {
        /// A complete line without its newline.
        case complete([UInt8])
        /// The present line is longer than the longest permitted line.
        case tooLong
    }

    /// Longest permitted line without its newline, bytes.
    public let limit: Int
    private var bytes: [UInt8] = []
    /// Index of the first byte in the buffer that `next` has not returned.
    private var start = 0
    /// Index up to which `next` has searched for a newline.
    private var scanned = 0
    /// Index after the last complete line that `arrivals` has visited.
    private var looked = 0
    /// Index up to which `arrivals` has searched for a newline.
    private var searched = 0
    private var isSkipping = false

    /// Creates an empty buffer.
    public init(limit: Int) { self.limit = limit }

    /// True if the buffer contains a line whose end has not arrived.
    public var hasPartialLine: Bool { start < bytes.count || isSkipping }

    /// True if the buffer has room for more bytes. The buffer holds at most twice the length of the
    /// longest permitted line. A line of the longest permitted length can end with `\r\n`, so a line
    /// is too long if the buffer contains two more bytes.
    public var hasRoom: Bool { bytes.count - start <= limit + 1 }

    /// Adds bytes. Call this method only if the buffer has room; otherwise the buffer's memory is
    /// not bounded.
    public mutating func append(_ chunk: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            scanned -= start
            looked = max(0, looked - start)
            searched = max(0, searched - start)
            start = 0
        }
        bytes += chunk
    }

    /// Visits each complete line that has arrived since the last call, without removing the line.
    ///
    /// - Parameter visit: Function that receives a line; `isNext` is true if `next` would return
    ///   this line.
    public mutating func arrivals(_ visit: (ArraySlice<UInt8>, _ isNext: Bool) -> Void) {
        var from = max(looked, start)
        while let newline = newline(from: max(from, searched)) {
            // The remainder of a line that was too long is skipped.
            if !isSkipping || from > start { visit(bytes[from..<newline], from == start) }
            from = newline + 1
        }
        looked = from
        searched = bytes.count
    }

    /// Finds the next newline at or after a position. The search uses memchr(3), which is fast for
    /// long input even in a debug build.
    private func newline(from place: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, place < bytes.count,
                let found = memchr(base + place, 0x0A, bytes.count - place)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Removes and returns the next line; nil if no line is complete.
    public mutating func next() -> Line? {
        guard let newline = newline(from: scanned) else {
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

    /// Reports an incomplete line that is already longer than the longest permitted line.
    private mutating func endOfLineMissing() -> Line? {
        let isLong = bytes.count - start > limit + 1
        if isSkipping || isLong {
            bytes = []
            start = 0
            scanned = 0
            looked = 0
            searched = 0
        } else if start == bytes.count {
            // The buffer is empty, so the memory of an earlier long line is freed.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
            start = 0
            scanned = 0
            looked = 0
            searched = 0
        }
        guard isLong, !isSkipping else { return nil }
        isSkipping = true
        return .tooLong
    }
}
