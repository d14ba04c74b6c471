import GimbalCore

/// A command that the loop executed.
struct CommandMessage: RecordedMessage, Sendable {
    static let name = "Command"
    static let topic = "/command"

    private var tick: UInt64 = 0
    private var kind: UInt32 = 0
    private var mode: UInt32 = 0
    private var axes = AxisVector.zero
    private var duration = 0.0
    private var rate = 0.0
    private var validUntil = Instant(nanoseconds: 0)
    private var axis: UInt32 = 0
    private var excitation: UInt32 = 0
    private var periodTicks: Int64 = 0
    private var ticks: Int64 = 0
    private var errorLimit = 0.0

    /// Names of the commands. Their order is that of the numbers in the file.
    private enum Kind: UInt32, CaseIterable {
        case mode
        case point
        case rate
        case track
        case excite
        case testMotor = 5
        case resetIntegrals
        case emergencyStop
        case resetEmergencyStop
        case shutdown
        case lookAside
    }

    private static let kinds = FieldWords(
        name: "Kind",
        words: [
            "mode", "point", "rate", "track", "excite", "test_motor", "reset_integrals",
            "emergency_stop", "reset_emergency_stop", "shutdown", "look_aside",
        ])
    private static let axisWords = FieldWords(
        name: "Axis", words: GimbalAxis.allCases.map { "\($0)" })

    init() {}

    init(tick: UInt64, _ command: Command) {
        self.tick = tick
        switch command {
        case .mode(let wanted):
            kind = Kind.mode.rawValue
            mode = UInt32(wanted.rawValue)
        case .point(let target, let duration, let rate):
            kind = Kind.point.rawValue
            axes = target
            self.duration = duration
            self.rate = rate
        case .rate(let rates, let validUntil):
            kind = Kind.rate.rawValue
            axes = rates
            self.validUntil = validUntil
        case .track(let pan, let tilt, let validUntil):
            kind = Kind.track.rawValue
            axes = AxisVector(yaw: pan, roll: 0, pitch: tilt)
            self.validUntil = validUntil
        case .lookAside(let yaw, let rate, let validUntil):
            kind = Kind.lookAside.rawValue
            axes.yaw = yaw
            self.rate = rate
            self.validUntil = validUntil
        case .excite(let excitation):
            kind = Kind.excite.rawValue
            self.excitation = excitation.id
            axis = Self.index(of: excitation.axis)
            axes.yaw = excitation.amplitude
            periodTicks = Int64(excitation.periodTicks)
            ticks = Int64(excitation.ticks)
            errorLimit = excitation.errorLimit
        case .testMotor(let axis, let validUntil):
            kind = Kind.testMotor.rawValue
            self.axis = Self.index(of: axis)
            self.validUntil = validUntil
        case .resetIntegrals: kind = Kind.resetIntegrals.rawValue
        case .emergencyStop: kind = Kind.emergencyStop.rawValue
        case .resetEmergencyStop: kind = Kind.resetEmergencyStop.rawValue
        case .shutdown: kind = Kind.shutdown.rawValue
        }
    }

    /// The command; nil if this version does not know it.
    var command: Command? {
        switch Kind(rawValue: kind) {
        case .mode: UInt8(exactly: mode).flatMap(Mode.init(rawValue:)).map(Command.mode)
        case .point: .point(target: axes, duration: duration, rate: rate)
        case .rate: .rate(axes, validUntil: validUntil)
        case .track: .track(pan: axes.yaw, tilt: axes.pitch, validUntil: validUntil)
        case .excite:
            gimbalAxis.map {
                .excite(
                    Excitation(
                        id: excitation, axis: $0, amplitude: axes.yaw,
                        periodTicks: Int32(truncatingIfNeeded: periodTicks),
                        ticks: Int32(truncatingIfNeeded: ticks), errorLimit: errorLimit))
            }
        case .testMotor: gimbalAxis.map { .testMotor($0, validUntil: validUntil) }
        case .lookAside: .lookAside(yaw: axes.yaw, rate: rate, validUntil: validUntil)
        case .resetIntegrals: .resetIntegrals
        case .emergencyStop: .emergencyStop
        case .resetEmergencyStop: .resetEmergencyStop
        case .shutdown: .shutdown
        case nil: nil
        }
    }

    /// Name of the command, for plots.
    var word: String {
        let index = Int(kind)
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
        visitor.bits(FieldName("tick"), 1, &tick)
        visitor.choice(FieldName("kind"), 2, Self.kinds, &kind)
        visitor.choice(FieldName("mode"), 3, TickMessage.modes, &mode)
        visitor.axes("value", "", 4, &axes)
        visitor.double(FieldName("duration_s"), 7, &duration)
        visitor.double(FieldName("rate_rad_s"), 8, &rate)
        visitor.integer(FieldName("valid_until_ns"), 9, &validUntil.nanoseconds)
        visitor.choice(FieldName("axis"), 10, Self.axisWords, &axis)
        visitor.count(FieldName("excitation"), 11, &excitation)
        visitor.integer(FieldName("period_ticks"), 12, &periodTicks)
        visitor.integer(FieldName("ticks"), 13, &ticks)
        visitor.double(FieldName("error_limit_rad"), 14, &errorLimit)
    }
}
