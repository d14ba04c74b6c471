import Foundation
import GimbalCore
import Realtime

/// Message with a command that the loop executed.
struct CommandMessage: RecordedMessage, Sendable {
    static let name = "Command"
    static let topic = "/command"

    private var tick: UInt64 = 0
    private var kind: UInt32 = 0
    private var mode: UInt32 = 0
    private var axes = AxisVector.zero
    private var duration = 0.0
    private var rate = 0.0
    private(set) var validUntil = Instant(nanoseconds: 0)
    private var axis: UInt32 = 0
    private var excitation: UInt32 = 0
    private var periodTicks: Int64 = 0
    private var ticks: Int64 = 0
    private var errorLimit = 0.0
    private var rates = AxisVector.zero
    private var smoothing = 0.0
    private var lead = 0.0
    /// A command of the kind `other` as JSON; empty for the other kinds.
    private var form = ""

    /// Names of the commands. The index of a case is the number of the command in the file. The
    /// names of the cases are those of `Command`.
    private enum Kind: String, CaseIterable {
        case mode
        case point
        case rate
        case track
        case excite
        case testMotor = "test_motor"
        case resetIntegrals = "reset_integrals"
        case emergencyStop = "emergency_stop"
        case resetEmergencyStop = "reset_emergency_stop"
        case shutdown
        case lookAside = "look_aside"
        case aim
        case findEnd = "find_end"
        /// A command without fields in this message; the field `form` contains the whole command.
        case other
    }

    private static let kinds = FieldWords(name: "Kind", words: Kind.allCases.map(\.rawValue))
    private static let axisWords = FieldWords(
        name: "Axis", words: GimbalAxis.allCases.map { "\($0)" })

    init() {}

    /// Creates the message for a command that has no fields in this message.
    init(other form: String) {
        kind = UInt32(Kind.allCases.firstIndex(of: .other) ?? 0)
        self.form = form
    }

    init(tick: UInt64, _ timed: TimedCommand) {
        self.tick = tick
        validUntil = timed.validUntil
        let kind: Kind
        switch timed.command {
        case .mode(let wanted):
            kind = .mode
            mode = UInt32(wanted.rawValue)
        case .point(let point):
            kind = .point
            axes = point.target
            duration = point.duration
            rate = point.rate
        case .rate(let rates):
            kind = .rate
            axes = rates
        case .track(let pan, let tilt):
            kind = .track
            axes = AxisVector(yaw: pan, roll: 0, pitch: tilt)
        case .aim(let aim):
            kind = .aim
            axes = aim.target
            rates = aim.rate
            smoothing = aim.smoothing
        case .lookAside(let yaw, let rate, let lead):
            kind = .lookAside
            axes.yaw = yaw
            self.rate = rate
            self.lead = lead
        case .excite(let excitation):
            kind = .excite
            self.excitation = excitation.id
            axis = Self.index(of: excitation.axis)
            axes.yaw = excitation.amplitude
            periodTicks = Int64(excitation.periodTicks)
            ticks = Int64(excitation.ticks)
            errorLimit = excitation.errorLimit
        case .testMotor(let axis):
            kind = .testMotor
            self.axis = Self.index(of: axis)
        case .findEnd(let axis, let isPositive):
            kind = .findEnd
            self.axis = Self.index(of: axis)
            axes.yaw = isPositive ? 1 : -1
        default:
            form = Self.form(of: timed.command)
            let name = Self.name(in: form)
            kind = Kind.allCases.first { "\($0)" == name } ?? .other
            if kind != .other { form = "" }
        }
        self.kind = UInt32(Kind.allCases.firstIndex(of: kind) ?? 0)
    }

    /// A command as JSON: an object whose only key is the name of the command.
    static func form(of command: Command) -> String {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(command)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The command of a form; nil if this program version does not have the command.
    static func command(form: String) -> Command? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(Command.self, from: Data(form.utf8))
    }

    /// Name of the command in a form: the first key.
    private static func name(in form: String) -> String {
        form.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
    }

    /// The command; nil if this program version does not have the command. The command's dead-man
    /// timeout ends at `validUntil`.
    var command: Command? {
        let kinds = Kind.allCases
        guard kind < kinds.count else { return nil }
        return switch kinds[Int(kind)] {
        case .mode: UInt8(exactly: mode).flatMap(Mode.init(rawValue:)).map(Command.mode)
        case .point: .point(target: axes, duration: duration, rate: rate)
        case .rate: .rate(axes)
        case .track: .track(pan: axes.yaw, tilt: axes.pitch)
        case .excite:
            gimbalAxis.map {
                .excite(
                    Excitation(
                        id: excitation, axis: $0, amplitude: axes.yaw,
                        periodTicks: Int32(truncatingIfNeeded: periodTicks),
                        ticks: Int32(truncatingIfNeeded: ticks), errorLimit: errorLimit))
            }
        case .testMotor: gimbalAxis.map(Command.testMotor)
        case .findEnd: gimbalAxis.map { .findEnd($0, isPositive: axes.yaw > 0) }
        case .lookAside: .lookAside(yaw: axes.yaw, rate: rate, lead: lead)
        case .aim: .aim(Aim(target: axes, rate: rates, smoothing: smoothing))
        case .resetIntegrals: .resetIntegrals
        case .emergencyStop: .emergencyStop
        case .resetEmergencyStop: .resetEmergencyStop
        case .shutdown: .shutdown
        case .other: Self.command(form: form)
        }
    }

    /// True if clients repeat the command: a command that ends after the dead-man time, or a turn to
    /// angles, which autopilots send continuously.
    var isRepeated: Bool { validUntil.nanoseconds > 0 || word == Kind.point.rawValue }

    /// Name of the command, for plots.
    var word: String {
        let index = Int(kind)
        guard form.isEmpty else { return Self.name(in: form) }
        return index < Self.kinds.words.count ? Self.kinds.words[index] : "\(kind)"
    }

    private static func index(of axis: GimbalAxis) -> UInt32 {
        UInt32(GimbalAxis.allCases.firstIndex(of: axis) ?? 0)
    }

    private var gimbalAxis: GimbalAxis? {
        let index = Int(axis)
        return index < GimbalAxis.allCases.count ? GimbalAxis.allCases[index] : nil
    }

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.choice("kind", 2, Self.kinds, &kind)
        visitor.choice("mode", 3, TickMessage.modes, &mode)
        visitor.axes("value", "", 4, &axes)
        visitor.double("duration_s", 7, &duration)
        visitor.double("rate_rad_s", 8, &rate)
        visitor.integer("valid_until_ns", 9, &validUntil.nanoseconds)
        visitor.choice("axis", 10, Self.axisWords, &axis)
        visitor.count("excitation", 11, &excitation)
        visitor.integer("period_ticks", 12, &periodTicks)
        visitor.integer("ticks", 13, &ticks)
        visitor.double("error_limit_rad", 14, &errorLimit)
        visitor.axes("target_rate", "rad_s", 15, &rates)
        visitor.double("smoothing_s", 18, &smoothing)
        visitor.double("lead_rad", 19, &lead)
        visitor.text("form", 20, &form)
    }
}
