import PlainText

/// Output of the benches: prints each result with its limit, and counts the results that are
/// outside their limits.
struct BenchReport: Sendable {
    private(set) var misses = 0
    private var figures = 0

    /// Starts a group of results.
    func begin(_ title: String) { print("\n\(title)") }

    /// Prints a note without a result.
    func note(_ text: String) { print("  \(text)") }

    /// Prints a result that has no limit.
    func show(_ name: String, _ value: Double, _ unit: String) {
        print("  \(Format.left(name, 50))\(decimal(value)) \(unit)")
    }

    /// Checks that a result is at most its upper limit, and prints the result and the limit.
    /// `perfect` is the result of `PerfectKnowledge` on the same run.
    mutating func check(
        _ name: String, _ value: Double, atMost bar: Double, _ unit: String, perfect: Double? = nil
    ) {
        judge(name, value, "<=", bar, unit, perfect: perfect, passed: value <= bar)
    }

    /// Checks that a result is at least its lower limit, and prints the result and the limit.
    mutating func check(_ name: String, _ value: Double, atLeast bar: Double, _ unit: String) {
        judge(name, value, ">=", bar, unit, passed: value >= bar)
    }

    /// Reports that a bench could not run. The report counts a bench that could not run as an
    /// exceeded limit.
    mutating func fail(_ sentence: String) {
        figures += 1
        misses += 1
        print("  MISS: \(sentence)")
    }

    /// Prints the number of results that are within their limits.
    func finish() {
        print("\n\(figures - misses) of \(figures) limits met")
    }

    private mutating func judge(
        _ name: String, _ value: Double, _ relation: String, _ bar: Double, _ unit: String,
        perfect: Double? = nil, passed: Bool
    ) {
        figures += 1
        if !passed { misses += 1 }
        let figure = Format.left("\(decimal(value)) \(unit)", 16)
        let limit = Format.left("limit \(relation) \(decimal(bar)) \(unit)", 24)
        let reference = perfect.map { "   perfect \(decimal($0))" } ?? ""
        print(
            "  \(Format.left(name, 50))\(figure)\(limit)\(passed ? "pass" : "MISS")\(reference)")
    }

    /// Formats a result with three significant digits, or without decimals if it is large.
    private func decimal(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        if abs(value) >= 100 || value == value.rounded() { return "\(Int(value.rounded()))" }
        let scale = abs(value) < 1 ? 1000.0 : 100.0
        return "\((value * scale).rounded() / scale)"
    }
}

/// Median of the values: the middle value in sorted order, or the mean of the two middle values if
/// their number is even.
func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
