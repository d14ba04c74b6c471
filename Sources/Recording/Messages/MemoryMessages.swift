import GimbalCore

/// Message with the state of the whole stabilizer before a tick, as raw memory; `MemoryMap`
/// describes its layout in the file.
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

/// Message with a set of stabilizer parameters that the loop has begun to use, as raw memory. An
/// attachment of the file contains the settings from which the parameters were computed.
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

/// Message with an event for plots: a condition begins or ends, the mode changes, the outputs are
/// switched on or off, or ticks are missing.
struct EventMessage: RecordedMessage, Sendable {
    static let name = "Event"
    static let topic = "/event"

    var tick: UInt64 = 0
    /// Name of the event: a condition such as `imu_stale`, `mode`, `outputs` or `gap`.
    var word = ""
    /// Change that the event reports, such as `begins`, `ends`, or the name of a mode.
    var what = ""
    /// True if the flight recorder treats the event as a fault.
    var isFault = false

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.text("name", 2, &word)
        visitor.text("what", 3, &what)
        visitor.flag("fault", 4, &isFault)
    }
}
