/// Characters of 3 × 5 pixels, for the test picture.
enum Glyphs {
    /// Shape of each character: five octal digits, one for each row of three pixels, from the top.
    private static let shapes: [Character: Int] = [
        "0": 0o75557, "1": 0o26227, "2": 0o71747, "3": 0o71717, "4": 0o55711, "5": 0o74717,
        "6": 0o74757, "7": 0o71111, "8": 0o75757, "9": 0o75717, "-": 0o00700, ".": 0o00002,
        "A": 0o75755, "B": 0o65656, "C": 0o74447, "D": 0o65556, "E": 0o74647, "F": 0o74644,
        "G": 0o74557, "H": 0o55755, "I": 0o72227, "J": 0o11157, "K": 0o55655, "L": 0o44447,
        "M": 0o57755, "N": 0o67555, "O": 0o75557, "P": 0o75744, "Q": 0o75571, "R": 0o75665,
        "S": 0o74717, "T": 0o72222, "U": 0o55557, "V": 0o55552, "W": 0o55775, "X": 0o55255,
        "Y": 0o55222, "Z": 0o71247,
    ]

    /// Width of a text, pixels.
    static func width(of text: String, scale: Int) -> Int { text.count * 4 * scale }

    /// Calls `body` with the column and row of each pixel of the text.
    static func forEachPixel(of text: String, _ body: (Int, Int) -> Void) {
        for (index, character) in text.enumerated() {
            guard let shape = shapes[character] else { continue }
            for row in 0..<5 {
                for column in 0..<3 where shape >> (3 * (4 - row) + 2 - column) & 1 == 1 {
                    body(index * 4 + column, row)
                }
            }
        }
    }
}
