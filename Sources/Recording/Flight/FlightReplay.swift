public import GimbalCore

/// Runs estimator, supervisor and controller again over what was recorded, in the order in which
/// the loop did.
///
/// The stabilizer knows no clock and no thread, so the same build gives the same bits; another
/// architecture may differ in the last bits of the mathematical library. A recording of another
/// version is read variable by variable; those that it does not have begin afresh, as after a
/// start.
public struct FlightReplay: Sendable {
    /// One tick, as it was and as it is now.
    public struct Row: Sendable {
        /// Time of the file, ns.
        public var time: Int64
        /// Angles of the camera then, Z-X-Y, degrees.
        public var recordedAttitude: AxisVector
        /// Angles of the camera in the replay, Z-X-Y, degrees.
        public var attitude: AxisVector
        /// Attitude error then, about the camera's axes, degrees.
        public var recordedError: AxisVector
        /// Attitude error of the replay about the camera's axes, degrees.
        public var error: AxisVector
        /// Torque then, N·m.
        public var recordedTorque: AxisVector
        /// Torque of the replay, N·m.
        public var torque: AxisVector
    }

    /// How a replay went.
    public struct Report: Sendable, Equatable {
        /// Ticks that were run again.
        public var ticks = 0
        /// Of them, those whose outputs, attitude and supervisor are the same to the bit.
        public var identicalTicks = 0
        /// Ticks before the first state, or between a gap and the next state: nothing to run them
        /// from.
        public var skippedTicks = 0
        /// Seconds from the first tick that was run to the last.
        public var seconds = 0.0
        /// The first difference, in words; nil when there is none.
        public var firstDifference: String?
        /// Largest angle between the attitude then and now, rad.
        public var largestAttitudeDifference = 0.0
        /// Largest difference of a torque, N·m.
        public var largestTorqueDifference = 0.0
        /// Variables of this version's stabilizer that the recording does not have.
        public var missingVariables = 0
        /// What a person should know, in sentences.
        public var remarks: [String] = []

        /// Whether everything came out as it was, to the bit.
        public var isIdentical: Bool { ticks > 0 && identicalTicks == ticks }
    }

    private let file: FlightFile
    private let change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)?
    private let fallback: Stabilizer.Parameters

    /// A replay of a file.
    ///
    /// - Parameters:
    ///   - file: What was recorded.
    ///   - fallback: Tuning for what a recording of another version does not have.
    ///   - change: Makes other parameters of recorded ones; nil: as recorded.
    public init(
        _ file: FlightFile, fallback: Stabilizer.Parameters = Stabilizer.Parameters(),
        change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)? = nil
    ) {
        self.file = file
        self.fallback = fallback
        self.change = change
    }

    /// Every set of parameters in the recording that this program can read, in order, without
    /// repetition.
    ///
    /// - Parameters:
    ///   - file: Any recording.
    ///   - fallback: What a recording of another version does not have.
    /// - Returns: None when the file does not describe the layout of its state.
    public static func parameters(
        in file: FlightFile, fallback: Stabilizer.Parameters
    ) -> [Stabilizer.Parameters] {
        var found: [Stabilizer.Parameters] = []
        guard let memory = file.memory else { return [] }
        let fresh = Stabilizer(parameters: fallback)
        file.read { record, _ in
            var parameters: Stabilizer.Parameters?
            switch record {
            case .state(let bytes): parameters = memory.stabilizer(bytes, fresh: fresh)?.parameters
            case .parameters(let bytes):
                parameters = memory.parameters(bytes, fresh: fresh.parameters)
            default: break
            }
            if let parameters, found.last != parameters { found.append(parameters) }
            return true
        }
        return found
    }

    /// Runs it.
    ///
    /// - Parameter observe: Sees every tick that was run.
    /// - Returns: How it compares.
    public func run(_ observe: (Row) -> Void = { _ in }) -> Report {
        guard let memory = file.memory else {
            var report = Report()
            report.remarks = ["the file does not describe the layout of its state"]
            return report
        }
        var run = Run(memory: memory, fallback: fallback, change: change)
        let outcome = file.read { record, time in
            run.take(record, time, observe)
            return true
        }
        run.report.remarks += outcome.remarks
        if run.impossible > 0 {
            run.report.remarks.append(
                "\(run.impossible) states or tunings contain invalid bytes and are left out: the file is damaged or forged"
            )
        }
        return run.report
    }

    /// A replay that is going on.
    private struct Run {
        let memory: RecordedMemory
        /// What variables begin with that the recording does not have.
        let fresh: Stabilizer
        let change: ((Stabilizer.Parameters) -> Stabilizer.Parameters)?
        var report = Report()
        private var stabilizer: Stabilizer?
        /// What belongs to the tick whose end comes next, in the loop's order.
        private var pending: [FlightFile.Record] = []
        /// States and tunings whose bytes are none.
        private(set) var impossible = 0
        /// More than a tick takes: a file that never ends one must not take all memory.
        private static let pendingLimit = 4096
        private var lastTick: UInt64?
        private var start: Int64?

        init(
            memory: RecordedMemory, fallback: Stabilizer.Parameters,
            change: ((Stabilizer.Parameters) -> Stabilizer.Parameters)?
        ) {
            self.memory = memory
            fresh = Stabilizer(parameters: fallback)
            self.change = change
            report.missingVariables = memory.missing
        }

        mutating func take(_ record: FlightFile.Record, _ time: Int64, _ observe: (Row) -> Void) {
            switch record {
            case .event: break
            case .state:
                // The first thing of its tick: what stands before it belongs to one whose end was
                // lost.
                pending = [record]
            case .parameters, .command, .sample:
                if pending.count < Self.pendingLimit { pending.append(record) }
            case .tick(let tick): end(tick, time, observe)
            }
        }

        private mutating func end(_ tick: TickMessage, _ time: Int64, _ observe: (Row) -> Void) {
            let inputs = pending
            pending.removeAll(keepingCapacity: true)
            if let lastTick, tick.tick != lastTick &+ 1 { stabilizer = nil }
            // A look does not count: it has the number of the tick to come.
            lastTick = tick.isLook ? tick.tick &- 1 : tick.tick
            let now = Instant(nanoseconds: tick.now)
            for input in inputs { give(input, now: now) }
            guard var running = stabilizer else {
                report.skippedTicks += 1
                return
            }
            running.report(Conditions(rawValue: tick.reported))
            _ = running.step(now: now)
            stabilizer = running
            compare(tick, running.snapshot, time)
            observe(row(tick, running.snapshot, time))
        }

        private mutating func give(_ input: FlightFile.Record, now: Instant) {
            switch input {
            case .state(let bytes):
                guard stabilizer == nil else { return }
                guard var state = memory.stabilizer(bytes, fresh: fresh) else {
                    impossible += 1
                    return
                }
                if let change { state.apply(change(state.parameters)) }
                stabilizer = state
            case .parameters(let bytes):
                guard let parameters = memory.parameters(bytes, fresh: fresh.parameters) else {
                    impossible += 1
                    return
                }
                stabilizer?.apply(change?(parameters) ?? parameters)
            case .command(let message):
                if let command = message.command { stabilizer?.apply(command, now: now) }
            case .sample(let message): stabilizer?.integrate(message.sample)
            case .tick, .event: break
            }
        }

        private mutating func compare(
            _ tick: TickMessage, _ now: StabilizerSnapshot, _ time: Int64
        ) {
            let first = start ?? time
            start = first
            report.ticks += 1
            report.seconds = FlightFile.seconds(from: first, to: time)
            if let difference = Self.difference(tick, now) {
                if report.firstDifference == nil {
                    let seconds = ((report.seconds * 1e4).rounded() / 1e4).description
                    report.firstDifference =
                        "\(difference) in tick \(tick.tick), \(seconds) s after the beginning"
                }
            } else {
                report.identicalTicks += 1
            }
            let turn = (tick.attitude.conjugate * now.attitude)
            let angle = 2 * Vector3(turn.x, turn.y, turn.z).norm
            report.largestAttitudeDifference = max(report.largestAttitudeDifference, angle)
            for axis in GimbalAxis.allCases {
                report.largestTorqueDifference = max(
                    report.largestTorqueDifference,
                    abs(tick.torque[axis] - now.output.torque[axis]))
            }
        }

        /// What is not the same to the bit; nil when everything is.
        private static func difference(_ tick: TickMessage, _ now: StabilizerSnapshot) -> String? {
            func same(_ a: AxisVector, _ b: AxisVector) -> Bool {
                a.yaw.bitPattern == b.yaw.bitPattern && a.roll.bitPattern == b.roll.bitPattern
                    && a.pitch.bitPattern == b.pitch.bitPattern
            }
            let (then, output) = (tick, now.output)
            if then.mode != UInt32(now.mode.rawValue) { return "the mode differs" }
            if then.conditions != now.conditions.rawValue { return "the conditions differ" }
            if then.phase != UInt32(now.phase.rawValue)
                || then.authority.bitPattern != now.authority.bitPattern
            {
                return "the supervisor differs"
            }
            if then.attitude.w.bitPattern != now.attitude.w.bitPattern
                || then.attitude.x.bitPattern != now.attitude.x.bitPattern
                || then.attitude.y.bitPattern != now.attitude.y.bitPattern
                || then.attitude.z.bitPattern != now.attitude.z.bitPattern
            {
                return "the attitude differs"
            }
            if then.isEnabled != output.enabled || !same(then.torque, output.torque)
                || !same(then.angle, output.angle) || !same(then.field, output.field)
                || !same(then.power, output.power)
            {
                return "the outputs differ"
            }
            return nil
        }

        private func row(_ tick: TickMessage, _ now: StabilizerSnapshot, _ time: Int64) -> Row {
            let degrees = 180 / Double.pi
            return Row(
                time: time, recordedAttitude: EulerZXY.angles(tick.attitude) * degrees,
                attitude: EulerZXY.angles(now.attitude) * degrees,
                recordedError: tick.errorDegrees.axes,
                error: AxisVector(
                    yaw: now.attitudeError.z, roll: now.attitudeError.x, pitch: now.attitudeError.y)
                    * degrees,
                recordedTorque: tick.torque, torque: now.output.torque)
        }
    }
}
