import GimbalCore
import Hardware

extension FuzzTargets {
    /// Lines of channels (name, space, index, space, type), an empty line, and the bytes of an IIO
    /// buffer with these channels. A line that begins with `=` is a mount matrix, a line that
    /// begins with `?` contains the values of an `_available` file.
    public static func iio(_ bytes: [UInt8]) {
        var rest = bytes[...]
        var channels: [IIOChannel] = []
        while channels.count < 64 {
            let line = rest.prefix { $0 != 10 }
            rest = rest.dropFirst(line.count + 1)
            if line.isEmpty { break }
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("=") {
                matrix(String(text.dropFirst()))
            } else if text.hasPrefix("?") {
                choices(String(text.dropFirst()))
            } else if let channel = channel(text, channels.count) {
                channels.append(channel)
            }
        }
        guard let decoder = IIODecoder(channels) else { return }
        precondition(
            (1...IIODecoder.mostBytes).contains(decoder.scanBytes), "the size of a scan is wrong")
        var left = Array(rest)
        while !left.isEmpty {
            let scan = left.withUnsafeBytes { decoder.scan($0) }
            precondition(
                (scan == nil) == (left.count < decoder.scanBytes),
                "the number of bytes of a scan is wrong")
            for quantity in decoder.quantities {
                guard let vector = scan?[quantity] else { continue }
                precondition(
                    abs(vector.x) <= 0x1p71 && abs(vector.y) <= 0x1p71 && abs(vector.z) <= 0x1p71,
                    "a channel has more than 64 bits")
            }
            left.removeFirst(min(left.count, decoder.scanBytes))
        }
    }

    private static func channel(_ text: String, _ count: Int) -> IIOChannel? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let name = words.first, let type = words.last, let format = IIOFormat(type) else {
            return nil
        }
        precondition(
            format.bits + format.shift <= 8 * format.size, "a channel has bits beyond its storage")
        precondition([1, 2, 4, 8].contains(format.size) && (1...16).contains(format.count))
        let index = words.count > 2 ? Int(words[1]) ?? count : count
        return IIOChannel(meaning: IIOChannel.meaning(of: name), index: index, format: format)
    }

    private static func matrix(_ text: String) {
        guard let matrix = IIOMountMatrix(text) else { return }
        let turned = matrix.rotate(Vector3(1, 2, 3))
        precondition(abs(turned.dot(turned) - 14) < 1, "the mount matrix is not a rotation")
    }

    private static func choices(_ text: String) {
        guard let choices = IIOChoices(text) else { return }
        precondition(Double(choices.atLeast(100)) != nil, "no number")
    }
}
