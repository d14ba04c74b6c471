public import GimbalCore

/// Replay of a recording: estimator, supervisor and controller run again, in the same order as in
/// the loop.
///
/// The stabilizer reads no clock and uses no threads; a replay with the same build therefore gives
/// bit-identical results. On another CPU architecture, the results of mathematical functions can
/// differ in the last bits. If another program version made the recording, the replay converts each
/// variable separately. Variables that are missing in the recording start with their initial
/// values.
public struct FlightReplay: Sendable {
    /// Recorded and replayed values of one tick.
    public struct Row: Sendable {
        /// Recorded time of the tick, ns.
        public var time: Int64
        /// Recorded angles of the camera, Z-X-Y, degrees.
        public var recordedAttitude: AxisVector
        /// Replayed angles of the camera, Z-X-Y, degrees.
        public var attitude: AxisVector
        /// Recorded attitude error about the camera's axes, degrees.
        public var recordedError: AxisVector
        /// Replayed attitude error about the camera's axes, degrees.
        public var error: AxisVector
        /// Recorded torque, N·m.
        public var recordedTorque: AxisVector
        /// Replayed torque, N·m.
        public var torque: AxisVector
    }

    /// Result of a replay.
    public struct Report: Sendable, Equatable {
        /// Number of replayed ticks.
        public var ticks = 0
        /// Number of replayed ticks whose outputs, attitude and supervisor state are bit-identical
        /// to the recording.
        public var identicalTicks = 0
        /// Number of ticks that cannot be replayed: ticks before the first recorded state, and
        /// ticks between a gap and the next recorded state.
        public var skippedTicks = 0
        /// Time from the first to the last replayed tick, s.
        public var seconds = 0.0
        /// Description of the first difference between replay and recording; nil if they are
        /// identical.
        public var firstDifference: String?
        /// Largest angle between recorded and replayed attitude, rad.
        public var largestAttitudeDifference = 0.0
        /// Largest difference between a recorded and a replayed torque, N·m.
        public var largestTorqueDifference = 0.0
        /// Number of the stabilizer's variables that are missing in the recording.
        public var missingVariables = 0
        /// Notes about the replay for the user, as sentences.
        public var remarks: [String] = []

        /// True if all results of the replay are bit-identical to the recorded results.
        public var isIdentical: Bool { ticks > 0 && identicalTicks == ticks }
    }

    private let file: FlightFile
    private let change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)?
    private let fallback: Stabilizer.Parameters

    /// Creates a replay of a file.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - fallback: Values of parameters that are missing in a recording made by another program
    ///     version.
    ///   - change: Function that changes the recorded parameters; nil leaves them unchanged.
    public init(
        _ file: FlightFile, fallback: Stabilizer.Parameters = Stabilizer.Parameters(),
        change: (@Sendable (Stabilizer.Parameters) -> Stabilizer.Parameters)? = nil
    ) {
        self.file = file
        self.fallback = fallback
        self.change = change
    }

    /// Find all distinct parameter sets in the recording that this program can read, in order.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - fallback: Values for the parameters that a recording of another version lacks.
    /// - Returns: The sets of parameters; empty if the file does not describe the layout of its raw
    ///   memory.
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

    /// Runs the replay.
    ///
    /// - Parameter observe: Function that receives every replayed tick.
    /// - Returns: The comparison of the replay with the recording.
    public func run(_ observe: (Row) -> Void = { _ in }) -> Report {
        guard let memory = file.memory else {
            var report = Report()
            report.remarks = ["the file does not describe the layout of the recorded states"]
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
                "\(run.impossible) records of states or settings contain invalid bytes, and are skipped: the file is damaged or forged"
            )
        }
        return run.report
    }

    /// State of a running replay.
    private struct Run {
        let memory: RecordedMemory
        /// Stabilizer that supplies the initial values of variables which are missing in the
        /// recording.
        let fresh: Stabilizer
        let change: ((Stabilizer.Parameters) -> Stabilizer.Parameters)?
        var report = Report()
        private var stabilizer: Stabilizer?
        /// Records that belong to the next tick, in the loop's order.
        private var pending: [FlightFile.Record] = []
        /// Number of recorded states and parameter sets whose bytes are invalid.
        private(set) var impossible = 0
        /// Largest number of records in a tick. The limit prevents a file without tick messages
        /// from exhausting the memory.
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
                // The record is the first record of its tick. Earlier pending records therefore
                // belong to a tick whose tick message was lost.
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
            // A run of the supervisor between two ticks (`isLook`) does not count as a tick, but
            // has the number of the next tick.
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
                if let command = message.command {
                    stabilizer?.apply(command, validUntil: message.validUntil, now: now)
                }
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

        /// Description of the first value that is not bit-identical to the recorded value; nil if
        /// all values are identical.
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
                recordedError: tick.degrees("error"),
                error: now.attitudeError.perAxis * degrees,
                recordedTorque: tick.torque, torque: now.output.torque)
        }
    }
}
