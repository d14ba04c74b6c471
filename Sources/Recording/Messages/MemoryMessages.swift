import GimbalCore

/// The whole stabilizer before a tick, as it lies in memory: only a program with the same layout can use it, see
/// `MemoryLayoutMark`.
struct StateMessage: RecordedMessage, Sendable {
    static let name = "State"
    static let topic = "/state"

    var tick: UInt64 = 0
    var memory: [UInt8] = []

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits(FieldName("tick"), 1, &tick)
        visitor.block(FieldName("memory"), 2, &memory)
    }
}

/// Tuning that came into force, as it lies in memory; the settings that it was made of are attached to the file.
struct ParametersMessage: RecordedMessage, Sendable {
    static let name = "Parameters"
    static let topic = "/parameters"

    var tick: UInt64 = 0
    var memory: [UInt8] = []

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits(FieldName("tick"), 1, &tick)
        visitor.block(FieldName("memory"), 2, &memory)
    }
}

/// Something that a reader of the plot wants to know: a condition, a mode, outputs on or off, a gap.
struct EventMessage: RecordedMessage, Sendable {
    static let name = "Event"
    static let topic = "/event"

    var tick: UInt64 = 0
    /// `imu_stale`, `mode`, `outputs`, `gap`.
    var word = ""
    /// What has happened to it: `begins`, `ends`, the mode's name.
    var what = ""
    /// Whether the flight recorder takes it for a fault.
    var isFault = false

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits(FieldName("tick"), 1, &tick)
        visitor.text(FieldName("name"), 2, &word)
        visitor.text(FieldName("what"), 3, &what)
        visitor.flag(FieldName("fault"), 4, &isFault)
    }
}

/// Which memory layout the raw messages have: the same for every build of the same source, on every 64-bit board.
public enum MemoryLayoutMark {
    /// The mark of this program: names, types and sizes of everything in a stabilizer, as a checksum.
    public static let own: UInt64 = {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            // FNV-1a: a mark against mistakes, not against malice.
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        func walk(_ value: Any, depth: Int) {
            add("\(type(of: value));")
            guard depth < 12 else { return }
            for child in Mirror(reflecting: value).children {
                add("\(child.label ?? "-"):")
                walk(child.value, depth: depth + 1)
            }
        }
        walk(Stabilizer(parameters: Stabilizer.Parameters()), depth: 0)
        add("\(MemoryLayout<Stabilizer>.size) \(MemoryLayout<Stabilizer.Parameters>.size)")
        return hash
    }()

    /// A mark as it stands in a file.
    public static func text(_ mark: UInt64) -> String { String(mark, radix: 16) }
}
