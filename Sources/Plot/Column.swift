/// Reduction of a line's samples to the visible samples in each column of pixels.
///
/// If a line has far more samples than pixels, each column of pixels needs only four samples:
/// first, smallest, largest and last. A line through these samples looks like the line through all
/// samples, and the file is much smaller.
enum Column {
    /// Find the samples to draw.
    ///
    /// - Parameters:
    ///   - values: The samples. Infinite and NaN values are kept, because they interrupt the line.
    ///   - columns: Index of each sample's column of pixels, in ascending order.
    /// - Returns: Indices in `values` of the samples to draw, in ascending order.
    static func visible(_ values: [Double], columns: [Int]) -> [Int] {
        var result: [Int] = []
        var first = 0
        while first < values.count {
            var end = first + 1
            while end < values.count, columns[end] == columns[first] { end += 1 }
            result += extremes(values, first..<end)
            first = end
        }
        return result
    }

    private static func extremes(_ values: [Double], _ range: Range<Int>) -> [Int] {
        guard range.count > 4 else { return Array(range) }
        var chosen = [range.lowerBound, range.upperBound - 1]
        var least = Double.infinity
        var greatest = -Double.infinity
        var (low, high, missing): (Int?, Int?, Int?) = (nil, nil, nil)
        for index in range {
            let value = values[index]
            guard value.isFinite else {
                missing = index
                continue
            }
            if value < least { (least, low) = (value, index) }
            if value > greatest { (greatest, high) = (value, index) }
        }
        chosen += [low, high, missing].compactMap { $0 }
        return Set(chosen).sorted()
    }
}
