import Glibc

/// Reference for wake-up latency: runs Debian's `cyclictest` for a short time, and evaluates its
/// histogram.
enum Cyclictest {
    /// Wake-up latencies of one run, µs.
    struct Result: Sendable {
        var p50: Double
        var p99: Double
        var count: Int
    }

    /// True if the program cyclictest is installed.
    static var isInstalled: Bool { output(of: "command -v cyclictest 2>/dev/null") != "" }

    /// Runs cyclictest with one thread under SCHED_FIFO and with locked memory.
    ///
    /// - Returns: The latencies; nil if cyclictest printed no histogram, for example because the
    ///   process must not use real-time scheduling.
    static func run(intervalMicroseconds: Int, seconds: Double, priority: Int, cpu: Int?) -> Result?
    {
        let loops = Int(seconds * 1e6) / intervalMicroseconds
        let affinity = cpu.map { "-a \($0)" } ?? ""
        let text = output(
            of: "cyclictest -q -m -t 1 -p \(priority) \(affinity) -i \(intervalMicroseconds) "
                + "-l \(loops) -h 5000 2>/dev/null")
        return parse(text)
    }

    /// Parses lines of the form "microseconds count". The line of overflows contains the number of
    /// latencies above the histogram's range.
    static func parse(_ text: String) -> Result? {
        var buckets: [(microseconds: Int, count: Int)] = []
        var overflows = 0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# Histogram Overflows:") {
                overflows = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
            }
            let fields = line.split { $0 == " " || $0 == "\t" }
            guard fields.count == 2, let microseconds = Int(fields[0]), let count = Int(fields[1])
            else { continue }
            if count > 0 { buckets.append((microseconds, count)) }
        }
        let total = buckets.reduce(overflows) { $0 + $1.count }
        guard total > 0 else { return nil }
        func quantile(_ share: Double) -> Double {
            let rank = Int((share * Double(total)).rounded(.up))
            var seen = 0
            for bucket in buckets {
                seen += bucket.count
                // cyclictest truncates a latency to whole microseconds. Therefore the true latency
                // is on average half a microsecond longer.
                if seen >= rank { return Double(bucket.microseconds) + 0.5 }
            }
            return .infinity
        }
        return Result(p50: quantile(0.5), p99: quantile(0.99), count: total)
    }

    private static func output(of command: String) -> String {
        guard let stream = popen(command, "r") else { return "" }
        defer { pclose(stream) }
        var text = ""
        var buffer = [CChar](repeating: 0, count: 4096)
        while let line = fgets(&buffer, Int32(buffer.count), stream) {
            text += String(cString: line)
        }
        return text
    }
}
