import GimbalCore

/// The whole stabilizer before a tick, as raw memory; `MemoryMap` describes its layout in the file.
struct StateMessage: RecordedMessage, Sendable {
    static let name = "State"
    static let topic = "/state"

    var tick: UInt64 = 0
    var memory: [UInt8] = []

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.block("memory", 2, &memory)
    }
}

/// Tuning that came into force, as raw memory; the settings that it was computed from are attached
/// to the file.
struct ParametersMessage: RecordedMessage, Sendable {
    static let name = "Parameters"
    static let topic = "/parameters"

    var tick: UInt64 = 0
    var memory: [UInt8] = []

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.block("memory", 2, &memory)
    }
}

/// An event for plots: a condition, a mode, outputs on or off, a gap.
struct EventMessage: RecordedMessage, Sendable {
    static let name = "Event"
    static let topic = "/event"

    var tick: UInt64 = 0
    /// Name of the event: `imu_stale`, `mode`, `outputs`, `gap`.
    var word = ""
    /// Change: `begins`, `ends`, the mode's name.
    var what = ""
    /// Whether the flight recorder treats it as a fault.
    var isFault = false

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.text("name", 2, &word)
        visitor.text("what", 3, &what)
        visitor.flag("fault", 4, &isFault)
    }
}
