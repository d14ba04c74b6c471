/// Suggestion after "Did you mean": the valid name most similar to a mistyped name.
public enum Suggestion {
    /// Finds the candidate with the smallest edit distance. Edits are insertions, deletions,
    /// replacements and swaps of adjacent characters.
    ///
    /// - Parameters:
    ///   - name: The mistyped name. The comparison ignores case, treats `-` and `_` as equal, and
    ///     uses only the first 64 characters.
    ///   - candidates: The valid names.
    /// - Returns: The candidate; nil if its edit distance exceeds a third of the longer name's
    ///   length.
    public static func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
        let wanted = normalized(name)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let other = normalized(candidate)
            let distance = Self.distance(wanted, other)
            guard distance * 3 <= max(wanted.count, other.count) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Suggestion to append to a sentence, such as ` Did you mean "x"?` with a leading space; empty
    /// if no candidate is similar.
    public static func sentence(for name: String, in candidates: some Sequence<String>) -> String {
        nearest(to: name, in: candidates).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    private static func normalized(_ name: String) -> [UInt8] {
        name.lowercased().utf8.prefix(64).map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    }

    /// Optimal string alignment distance of two names.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                let replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                var cost = min(last[j] + 1, row[j - 1] + 1, replace)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    cost = min(cost, beforeLast[j - 2] + 1)
                }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
