/// Rows of text in aligned columns.
struct Table {
    /// Cell of the table: its text and highlighting.
    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var role: Style.Role?

        init(_ text: String, _ role: Style.Role? = nil) {
            self.text = text
            self.role = role
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    private var rows: [[Cell]] = []
    private let rightAligned: Set<Int>
    private let widest: Int

    /// Creates a table. The columns with the listed numbers are right-aligned. Cells longer than
    /// `widest` characters do not widen their column; they shift the rest of their own line.
    init(rightAligned: Set<Int> = [], widest: Int = .max) {
        self.rightAligned = rightAligned
        self.widest = widest
    }

    mutating func add(_ cells: Cell...) { rows.append(cells) }

    /// Lines of the table. Two spaces separate the columns. Lines have no trailing spaces.
    func lines(_ style: Style, indent: Int = 0) -> [String] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                let count = cell.text.count
                if count <= widest { widths[column] = max(widths[column], count) }
            }
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            var pending = 0
            for (column, cell) in row.enumerated() {
                let padding = max(widths[column] - cell.text.count, 0)
                let isRight = rightAligned.contains(column)
                let text = cell.role.map { style($0, cell.text) } ?? cell.text
                if !cell.text.isEmpty {
                    line += String(repeating: " ", count: pending + (isRight ? padding : 0)) + text
                    pending = 0
                } else {
                    pending += isRight ? padding : 0
                }
                pending += (isRight ? 0 : padding) + 2
            }
            return line
        }
    }
}
