import Glibc
import PlainText

/// Chart of braille dots. Each character contains 2 × 4 dots.
struct TerminalChart {
    /// Width in characters, without the labels at the left.
    let width: Int
    /// Height in lines, without the abscissa.
    let height: Int
    private var dots: [UInt8]
    private var letters: [Character?]
    private let across: ClosedRange<Double>
    private let up: ClosedRange<Double>
    private let isLogarithmic: Bool

    /// Width of the labels at the left, characters.
    private static let margin = 9

    /// Creates an empty chart.
    ///
    /// - Parameters:
    ///   - across: Range of the abscissa.
    ///   - up: Range of the ordinate.
    ///   - isLogarithmic: True if the abscissa is logarithmic.
    ///   - width: Width in characters.
    ///   - height: Height in lines.
    init(
        across: ClosedRange<Double>, up: ClosedRange<Double>, isLogarithmic: Bool = false,
        width: Int = 70, height: Int = 10
    ) {
        self.across = across
        self.up = up
        self.isLogarithmic = isLogarithmic
        self.width = width
        self.height = height
        dots = [UInt8](repeating: 0, count: width * height)
        letters = [Character?](repeating: nil, count: width * height)
    }

    /// Draws a line through the points, from left to right.
    mutating func line(_ points: [(x: Double, y: Double)]) {
        var last: (x: Int, y: Int)?
        for point in points where point.x.isFinite && point.y.isFinite {
            guard across.contains(point.x) else { continue }
            let place = (x: column(point.x), y: row(point.y))
            if let last {
                let steps = max(abs(place.x - last.x), abs(place.y - last.y), 1)
                for step in 0...steps {
                    dot(
                        last.x + (place.x - last.x) * step / steps,
                        last.y + (place.y - last.y) * step / steps)
                }
            } else {
                dot(place.x, place.y)
            }
            last = place
        }
    }

    /// Draws a character at a point of the chart, in front of all lines.
    mutating func put(_ letter: Character, x: Double, y: Double) {
        guard across.contains(x), y.isFinite else { return }
        letters[min(row(y) / 4, height - 1) * width + min(column(x) / 2, width - 1)] = letter
    }

    /// Draws a vertical line of characters at a value of the abscissa, behind all other lines.
    mutating func upright(_ letter: Character, x: Double) {
        guard across.contains(x) else { return }
        let place = min(column(x) / 2, width - 1)
        for row in 0..<height where letters[row * width + place] == nil {
            letters[row * width + place] = letter
        }
    }

    /// Lines of the chart with labels: the ends of the ordinate at the left, and values of the
    /// abscissa below.
    ///
    /// - Parameters:
    ///   - marks: Ticks of the abscissa. A label that does not fit into the line, or that would
    ///     touch the previous label, is left out.
    ///   - decimals: Number of decimals of the ordinate's labels.
    /// - Returns: Lines without newlines.
    func lines(marks: [Double], decimals: Int = 0) -> [String] {
        var result: [String] = []
        for row in 0..<height {
            let share = Double(row) / Double(max(height - 1, 1))
            let value = up.upperBound - share * (up.upperBound - up.lowerBound)
            let isLabelled = row == 0 || row == height - 1 || row == height / 2
            let label = isLabelled ? Format.fixed(value, decimals) : ""
            var line = Format.right(label, Self.margin - 1) + "┤"
            for column in 0..<width {
                let bits = dots[row * width + column]
                let braille = Character(Unicode.Scalar(0x2800 + UInt32(bits)) ?? " ")
                line.append(letters[row * width + column] ?? (bits == 0 ? " " : braille))
            }
            while line.last == " " { line.removeLast() }
            result.append(line)
        }
        var axis = Array(repeating: Character(" "), count: Self.margin + width + 8)
        for mark in marks where across.contains(mark) {
            let text = Format.plain(mark)
            let start = Self.margin + min(column(mark) / 2, width - 1) - text.count / 2
            guard start >= 0, start + text.count < axis.count,
                axis[max(start - 1, 0)..<start + text.count + 1].allSatisfy({ $0 == " " })
            else { continue }
            for (offset, letter) in text.enumerated() { axis[start + offset] = letter }
        }
        while axis.last == " " { axis.removeLast() }
        return result + [String(axis)]
    }

    private func column(_ x: Double) -> Int {
        let share =
            isLogarithmic
            ? log(x / across.lowerBound) / log(across.upperBound / across.lowerBound)
            : (x - across.lowerBound) / (across.upperBound - across.lowerBound)
        return min(max(Int(share * Double(2 * width)), 0), 2 * width - 1)
    }

    private func row(_ y: Double) -> Int {
        let share = (up.upperBound - y) / (up.upperBound - up.lowerBound)
        guard share.isFinite else { return 0 }
        return Int(min(max(share * Double(4 * height), 0), Double(4 * height - 1)))
    }

    private mutating func dot(_ x: Int, _ y: Int) {
        // Bits of the eight dots in Unicode's braille patterns.
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        dots[y / 4 * width + x / 2] |= bits[y % 4][x % 2]
    }
}

/// Progress bar in one line of a terminal. If the output is a file or a pipe, no bar is written.
struct ProgressLine {
    private let isShown: Bool
    private var wasShown = false

    init(isShown: Bool = isatty(STDERR_FILENO) == 1) { self.isShown = isShown }

    /// Shows the progress, 0...1, with a text.
    mutating func show(_ share: Double, _ words: String) {
        guard isShown else { return }
        wasShown = true
        let columns = Terminal.size(of: STDERR_FILENO).columns
        let line = Output.shown(Self.line(share, words, columns: columns))
        Output.control("\r\u{1B}[K\(line)", to: STDERR_FILENO)
    }

    /// The bar with its text. The line is shorter than the terminal is wide, because a longer line
    /// would continue in the next row, and each update would then leave a row behind.
    static func line(_ share: Double, _ words: String, columns: Int) -> String {
        let length = columns < 100 ? 15 : 30
        let full = Int(min(max(share, 0), 1) * Double(length))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: length - full)
        let percent = Format.right(Format.fixed(share * 100, 0), 3)
        return String("\(bar) \(percent) %  \(words)".prefix(max(columns - 1, 0)))
    }

    /// Removes the bar from the line.
    mutating func clear() {
        if wasShown { Output.control("\r\u{1B}[K", to: STDERR_FILENO) }
        wasShown = false
    }
}
