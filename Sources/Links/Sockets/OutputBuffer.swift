/// Buffer of the output to one client.
struct OutputBuffer {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// Bytes that the kernel has not accepted yet.
    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    /// Calls `body`, which appends bytes at the end.
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        if sent > 0 {
            bytes.removeFirst(sent)
            sent = 0
        }
        body(&bytes)
    }

    /// Discards all bytes, after the client has disconnected.
    mutating func discard() {
        bytes = []
        sent = 0
    }

    /// Sends bytes until `send` accepts no more.
    ///
    /// - Parameter send: Function that sends as many bytes from the start as possible without
    ///   waiting, and returns their number.
    /// - Returns: Number of bytes that `send` has accepted.
    mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int) -> Int {
        var total = 0
        while !isEmpty {
            let taken = bytes.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            guard taken > 0 else { break }
            sent += taken
            total += taken
        }
        if isEmpty {
            // The memory of a rare large reply is freed, because all memory of airframed is locked
            // into RAM.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 8192)
            sent = 0
        }
        return total
    }
}
