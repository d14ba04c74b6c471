/// "Did you mean": the known name that somebody who wrote this name probably meant.
enum Suggestion {
    /// The closest of `candidates`, or nil when none is close enough to be worth a guess.
    static func closest(to written: String, among candidates: [String]) -> String? {
        // More than a third wrong is another word; more than four letters wrong is, too.
        let limit = max(2, min(4, written.utf8.count / 3))
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(Array(written.lowercased().utf8), Array(candidate.utf8))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// The setting that an unknown key probably means: one of the same last name in another table, else the closest
    /// spelling of the whole key, else the closest spelling of the last name.
    static func setting(for key: String) -> String? {
        let name = key.split(separator: ".").last.map(String.init) ?? key
        let sameName = Schema.settings.filter { $0.name == name }.map(\.key)
        if sameName.count == 1 { return sameName[0] }
        if let sibling = closest(to: key, among: sameName) { return sibling }
        if let close = closest(to: key, among: Schema.settings.map(\.key)) { return close }
        let last = closest(to: name, among: Schema.settings.map(\.name))
        let owners = Schema.settings.filter { $0.name == last }.map(\.key)
        return owners.count == 1 ? owners[0] : nil
    }

    /// Edits between two spellings: insert, delete, replace, or swap two neighbours, each counts 1 (optimal string
    /// alignment). Names are short; time grows with the product of the lengths, so long input is cut.
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        let a = Array(a.prefix(64))
        let b = Array(b.prefix(64))
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [Int](repeating: i + 1, count: b.count + 1)
            for j in 0..<b.count {
                let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
                row[j + 1] = min(replaced, last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
