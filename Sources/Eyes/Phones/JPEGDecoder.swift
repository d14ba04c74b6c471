import CTurboJPEG
import People

/// Decoder of JPEG pictures from the network. A `JPEGDecoder` is used by one thread at a time.
final class JPEGDecoder {
    /// Reason why a picture cannot be decoded.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Largest width and height, pixels.
    static let largest: Int32 = 8192
    /// Largest number of pixels of a picture. For a progressive JPEG, the library stores up to 6
    /// bytes per pixel. The limit keeps the program within the memory limit of its systemd unit. A
    /// phone's photo typically has 12 million pixels.
    static let mostPixels = 16_000_000
    /// Width and height above which a picture is decoded at a reduced size, pixels. The
    /// people-detection model uses smaller pictures.
    static let sufficient: Int32 = 1280

    private let handle: tjhandle

    /// Creates a decoder.
    ///
    /// - Throws: An error if there is not enough memory.
    init() throws(Failure) {
        guard let handle = tjInitDecompress() else {
            throw Failure(description: "there is not enough memory for pictures")
        }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// Decodes a picture.
    ///
    /// - Parameter bytes: A JPEG file.
    /// - Returns: `width` and `height` of the picture in the file, pixels, and the decoded
    ///   `picture`. The decoded picture can be smaller.
    /// - Throws: The reason why the file does not contain a usable picture.
    func decode(_ bytes: [UInt8]) throws(Failure) -> (width: Int, height: Int, picture: RGBPicture)
    {
        var (width, height, sampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
        guard
            tjDecompressHeader3(
                handle, bytes, UInt(bytes.count), &width, &height, &sampling, &space) == 0
        else { throw failure() }
        guard (1...Self.largest).contains(width), (1...Self.largest).contains(height),
            Int(width) * Int(height) <= Self.mostPixels
        else {
            throw Failure(description: "the picture of \(width) x \(height) pixels is too large")
        }
        // The library decodes a picture faster at 1/2, 1/4 or 1/8 of its size.
        var divisor: Int32 = 1
        while divisor < 8, max(width, height) / divisor > Self.sufficient { divisor *= 2 }
        let columns = (width + divisor - 1) / divisor
        let rows = (height + divisor - 1) / divisor
        var pixels = [UInt8](repeating: 0, count: 3 * Int(columns) * Int(rows))
        guard
            tjDecompress2(
                handle, bytes, UInt(bytes.count), &pixels, columns, 0, rows,
                Int32(TJPF_RGB.rawValue), TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) == 0
        else { throw failure() }
        guard
            let picture = RGBPicture(width: Int(columns), height: Int(rows), bytes: pixels)
        else { throw Failure(description: "the picture is empty") }
        return (Int(width), Int(height), picture)
    }

    private func failure() -> Failure {
        Failure(description: String(cString: tjGetErrorStr2(handle)))
    }
}

extension RGBPicture {
    /// Returns the picture, rotated by the given number of clockwise quarter turns, 0...3.
    func turned(_ quarters: Int) -> RGBPicture {
        guard quarters > 0 else { return self }
        let (w, h) = quarters == 2 ? (width, height) : (height, width)
        var turned = [UInt8](repeating: 0, count: bytes.count)
        for y in 0..<h {
            for x in 0..<w {
                let (u, v) =
                    switch quarters {
                    case 1: (y, height - 1 - x)
                    case 2: (width - 1 - x, height - 1 - y)
                    default: (width - 1 - y, x)
                    }
                let (from, to) = (3 * (v * width + u), 3 * (y * w + x))
                turned[to] = bytes[from]
                turned[to + 1] = bytes[from + 1]
                turned[to + 2] = bytes[from + 2]
            }
        }
        return RGBPicture(width: w, height: h, bytes: turned) ?? self
    }
}
