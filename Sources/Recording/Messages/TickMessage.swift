import GimbalCore
import Observables
import Realtime

/// Message with the results of one tick, and with all inputs of the tick except samples and
/// commands.
struct TickMessage: RecordedMessage, Sendable {
    static let name = "Tick"
    static let topic = "/tick"

    /// Number of the tick since the start.
    var tick: UInt64 = 0
    /// Beginning of the tick on the loop's clock, ns.
    var now: Int64 = 0
    /// Time since the previous tick, ns; 0 for the first tick.
    var dt: Int64 = 0
    var samples: UInt32 = 0
    /// Raw value of the `Conditions` that the loop reported to the stabilizer.
    var reported: UInt64 = 0
    /// Raw value of all `Conditions` that were active in this tick.
    var conditions: UInt64 = 0
    var mode: UInt32 = 0
    var phase: UInt32 = 0
    var authority = 0.0
    var isEnabled = false
    var isWarmingUp = false
    var isLook = false
    var lostTicks: UInt32 = 0
    var torque = AxisVector.zero
    var angle = AxisVector.zero
    var field = AxisVector.zero
    var power = AxisVector.zero
    var attitude = Quaternion(w: 0, x: 0, y: 0, z: 0)

    /// The recorded observables, in the order of `Observable.recorded`, in the units that their
    /// names contain, rounded to single precision. A replay ignores the observables, and uses only
    /// the message's other properties.
    private var shown = [Float](repeating: 0, count: Observable.recorded.count)

    init() {}

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - frame: Frame of the replay log, with the number and time of the tick.
    ///   - result: Result of the tick.
    ///   - dt: Time since the previous tick, ns.
    init(_ frame: ReplayLogFrame, _ result: ReplayLogTick, dt: Int64) {
        let snapshot = result.record.snapshot
        tick = frame.tick
        now = frame.now.nanoseconds
        self.dt = dt
        samples = UInt32(clamping: result.samples)
        reported = result.reported.rawValue
        conditions = snapshot.conditions.rawValue
        mode = UInt32(snapshot.mode.rawValue)
        phase = UInt32(snapshot.phase.rawValue)
        authority = snapshot.authority
        isEnabled = snapshot.output.enabled
        isWarmingUp = result.isWarmingUp
        isLook = result.isLook
        lostTicks = result.lostTicks
        torque = snapshot.output.torque
        angle = snapshot.output.angle
        field = snapshot.output.field
        power = snapshot.output.power
        attitude = snapshot.attitude
        for (index, field) in Observable.recorded.enumerated() {
            shown[index] = Float(field.value(result.record))
        }
    }

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        visitor.integer("now_ns", 2, &now)
        visitor.integer("dt_ns", 3, &dt)
        visitor.count("samples", 4, &samples)
        visitor.bits("reported_conditions", 5, &reported)
        visitor.bits("conditions", 6, &conditions)
        visitor.choice("mode", 7, Self.modes, &mode)
        visitor.choice("phase", 8, Self.phases, &phase)
        visitor.double("authority", 9, &authority)
        visitor.flag("enabled", 10, &isEnabled)
        visitor.flag("warming_up", 11, &isWarmingUp)
        visitor.flag("look", 12, &isLook)
        visitor.count("lost_ticks", 13, &lostTicks)
        visitor.axes("torque", "nm", 16, &torque)
        visitor.axes("angle", "rad", 19, &angle)
        visitor.axes("field", "rad", 22, &field)
        visitor.axes("power", "", 25, &power)
        visitor.quaternion("attitude", 28, &attitude)
        for (index, field) in Observable.recorded.enumerated() {
            if field.isFlag {
                var isSet = shown[index] != 0
                visitor.flag(FieldName(field.name), field.number, &isSet)
                shown[index] = isSet ? 1 : 0
            } else {
                visitor.float(FieldName(field.name), field.number, &shown[index])
            }
        }
    }

    private static let columns = Dictionary(
        uniqueKeysWithValues: Observable.recorded.enumerated().map { ($1.name, $0) })

    /// Value of the observable with the given field name; 0 if it is not recorded.
    func shown(_ name: String) -> Double { Self.columns[name].map { Double(shown[$0]) } ?? 0 }

    /// Yaw, roll and pitch of an observable whose unit is degrees.
    func degrees(_ stem: String) -> AxisVector {
        AxisVector(
            yaw: shown("\(stem)_yaw_deg"), roll: shown("\(stem)_roll_deg"),
            pitch: shown("\(stem)_pitch_deg"))
    }

    static let modes = FieldWords(name: "Mode", words: Mode.allCases.map(\.name))
    static let phases = FieldWords(
        name: "Phase", words: Supervisor.Phase.allCases.map { "\($0)" })
}
