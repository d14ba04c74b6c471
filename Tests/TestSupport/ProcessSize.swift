import Glibc

/// Memory of this process.
public enum ProcessSize {
    /// Resident memory, bytes.
    public static func resident() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, 256, file) != nil else { return 0 }
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }
}
