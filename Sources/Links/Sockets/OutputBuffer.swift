/// Bytes on their way to one client.
struct OutputBuffer {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// Bytes not yet taken by the kernel.
    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    /// Lets `body` append; what it appends follows everything before.
    mutating func append(_ body: (inout [UInt8]) -> Void) {
        if sent > 0 {
            bytes.removeFirst(sent)
            sent = 0
        }
        body(&bytes)
    }

    /// Forgets everything: the client is gone.
    mutating func discard() {
        bytes = []
        sent = 0
    }

    /// Hands bytes over until `send` takes no more.
    ///
    /// - Parameter send: Takes a prefix and returns its length; 0 when it would have to wait.
    /// - Returns: How many bytes went out.
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
            // A rare large reply must not stay in locked memory.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 8192)
            sent = 0
        }
        return total
    }
}
