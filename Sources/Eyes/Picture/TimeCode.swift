/// Time of exposure, drawn into a picture as two rows of 20 black or white cells at the upper left.
/// A player on the same computer computes the age of a picture from this code.
///
/// The first 32 bits are the time on CLOCK_MONOTONIC in units of 0.1 ms, highest bit first. The
/// last 8 bits are the time's checksum. The cells are large compared with the encoder's blocks, so
/// the code is readable at a low bit rate.
enum TimeCode {
    /// Number of cells in a row.
    static let columns = 20
    /// Number of rows.
    static let rows = 2
    /// Resolution of the encoded time, ns.
    static let step: Int64 = 100_000

    /// Width of a cell, pixels: 1/40 of the picture's width, at least 8.
    static func cell(width: Int) -> Int { max(8, width / 40) }

    /// The bits of the code for a time.
    ///
    /// - Parameter nanoseconds: Time on CLOCK_MONOTONIC, ns.
    /// - Returns: The 40 bits of the code.
    static func bits(_ nanoseconds: Int64) -> [Bool] {
        let count = UInt32(truncatingIfNeeded: nanoseconds / step)
        return (0..<32).map { count >> (31 - $0) & 1 == 1 }
            + (0..<8).map { checkSum(count) >> (7 - $0) & 1 == 1 }
    }

    /// Draws the code of a time into the brightness values of a picture.
    static func draw(
        _ nanoseconds: Int64, into luma: UnsafeMutableRawBufferPointer, width: Int, height: Int
    ) {
        let side = cell(width: width)
        for (index, bit) in bits(nanoseconds).enumerated() {
            let (row, column) = (index / columns, index % columns)
            for line in row * side..<min(height, (row + 1) * side) {
                let start = line * width + column * side
                luma[start..<start + side].initializeMemory(
                    as: UInt8.self, repeating: bit ? 235 : 16)
            }
        }
    }

    /// Computes the age of a picture from its time code.
    ///
    /// - Parameters:
    ///   - luma: Brightness values of the picture, in rows of `stride` bytes.
    ///   - width: Width, pixels.
    ///   - stride: Distance from one row to the next, bytes.
    ///   - now: Current time, ns on CLOCK_MONOTONIC.
    /// - Returns: Age of the picture, ns, with a resolution of 0.1 ms; nil if the picture contains
    ///   no valid code.
    static func age(
        of luma: UnsafeRawBufferPointer, width: Int, stride: Int, now: Int64
    ) -> Int64? {
        let side = cell(width: width)
        guard width >= columns * side, luma.count >= stride * rows * side else { return nil }
        var code: UInt64 = 0
        for index in 0..<rows * columns {
            // Only the middle half of the cell is read, because the encoder's errors are smallest
            // there.
            let (x, y) = (index % columns * side + side / 4, index / columns * side + side / 4)
            var sum = 0
            for row in y..<y + side / 2 {
                for column in x..<x + side / 2 { sum += Int(luma[row * stride + column]) }
            }
            code = code << 1 | (sum > 126 * (side / 2) * (side / 2) ? 1 : 0)
        }
        let count = UInt32(truncatingIfNeeded: code >> 8)
        guard UInt8(truncatingIfNeeded: code) == checkSum(count) else { return nil }
        let steps = Int32(bitPattern: UInt32(truncatingIfNeeded: now / step) &- count)
        return Int64(steps) * step
    }

    /// Checksum of the time's 32 bits. The checksum is inverted. Therefore a black or white picture
    /// contains no valid code.
    private static func checkSum(_ count: UInt32) -> UInt8 {
        ~(0..<4).reduce(UInt8(0x5A)) { sum, index in
            sum &* 31 &+ UInt8(truncatingIfNeeded: count >> (8 * index))
        }
    }
}
