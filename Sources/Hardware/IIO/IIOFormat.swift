/// Storage of one channel in an IIO buffer, from the text of its scan element, such as
/// `le:s16/16>>0` (kernel: Documentation/driver-api/iio/buffers.rst).
package struct IIOFormat: Sendable, Equatable {
    /// True if the value is little-endian.
    package var isLittleEndian: Bool
    /// True if the value is signed (two's complement).
    package var isSigned: Bool
    /// Number of valid bits, 1...64.
    package var bits: Int
    /// Size of one value, bytes: 1, 2, 4 or 8.
    package var size: Int
    /// Number of values in the channel; 1 unless the channel is an array.
    package var count: Int
    /// Number of bits by which the stored value is shifted right.
    package var shift: Int

    /// Largest number of values in one channel; the kernel has at most four, for a quaternion.
    private static let mostRepeated = 16

    /// Parses the text of a `_type` file; nil if the text is not a format of the kernel.
    package init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        func take(_ prefix: String) -> Bool {
            guard rest.hasPrefix(prefix) else { return false }
            rest.removeFirst(prefix.count)
            return true
        }
        func number(_ range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty, digits.count <= 3, let value = Int(digits) else { return nil }
            rest.removeFirst(digits.count)
            return range.contains(value) ? value : nil
        }
        if take("le:") {
            isLittleEndian = true
        } else if take("be:") {
            isLittleEndian = false
        } else {
            return nil
        }
        if take("s") {
            isSigned = true
        } else if take("u") {
            isSigned = false
        } else {
            return nil
        }
        guard let bits = number(1...64), take("/"), let storage = number(8...64),
            [8, 16, 32, 64].contains(storage)
        else { return nil }
        (self.bits, size, count, shift) = (bits, storage / 8, 1, 0)
        if take("X") {
            guard let repeated = number(1...Self.mostRepeated) else { return nil }
            count = repeated
        }
        if take(">>") {
            guard let shift = number(0...63) else { return nil }
            self.shift = shift
        }
        guard rest.isEmpty, bits + shift <= storage else { return nil }
    }

    /// Number of bytes that the channel occupies in a scan.
    var bytes: Int { size * count }

    /// Largest magnitude that a value can have.
    var largest: Double {
        let power = Double(sign: .plus, exponent: isSigned ? bits - 1 : bits, significand: 1)
        return isSigned ? power : power - 1
    }

    /// Decodes the first value of the channel.
    ///
    /// - Parameters:
    ///   - bytes: The scan.
    ///   - offset: Position of the channel; `offset + size` must not exceed the scan.
    /// - Returns: The raw value. An unsigned 64-bit value is returned as its bit pattern.
    func value(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int64 {
        var word: UInt64 = 0
        for index in 0..<size {
            let byte = UInt64(bytes[offset + index])
            word = isLittleEndian ? word | byte << (8 * UInt64(index)) : word << 8 | byte
        }
        word >>= UInt64(shift)
        let unused = UInt64(64 - bits)
        return isSigned
            ? Int64(bitPattern: word << unused) >> Int64(unused)
            : Int64(bitPattern: (word << unused) >> unused)
    }
}
