import CLinuxShim
import GimbalCore
import Links
import Logging
import Policy
import Realtime
import Synchronization
import Wire

/// Daemon side of the connection to a simulator. Each received message causes one tick and one
/// reply. The server's thread calls the methods that process the received messages; any thread can
/// call `report`. When `answer` returns, all effects of the message are complete: due timers have
/// expired, and the telemetry is in the hub.
final class LockstepSession: LockstepBackend, LoopDriver {
    private struct State: ~Copyable {
        var engine: LockstepEngine
        var intake: LockstepIntake
        var isConnected = false
        var isSilent = false
        var connections = 0
        var ticks = 0
        var errors = 0
        var lastError: String?
        var pace = Pace()
    }

    /// Largest number of rejected messages that are logged for one connection; further rejected
    /// messages are only counted.
    private static let loggedErrors = 5
    /// Simulated time from the last message of one connection to the start of the next connection,
    /// s. The pause between two connections is longer than the timeout of every timer of the
    /// earlier connection.
    private static let pauseSeconds = 1.0

    private let state: Mutex<State>
    private let stages: StageHistograms
    private let clock: LoopClock
    private let housekeeping: Housekeeping
    private let motorType: MotorType
    private let socket: String

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - engine: The loop; only this session can use it.
    ///   - clock: Clock, which is set to the time in each message.
    ///   - housekeeping: Periodic tasks outside the loop, which use the same clock.
    ///   - motorType: Type of the motors, setting `motors.type`.
    ///   - socket: Path of the socket, for `report`.
    init(
        engine: consuming LockstepEngine, clock: LoopClock, housekeeping: Housekeeping,
        motorType: MotorType, socket: String
    ) {
        stages = engine.stages
        self.clock = clock
        self.housekeeping = housekeeping
        self.motorType = motorType
        self.socket = socket
        state = Mutex(State(engine: engine, intake: LockstepIntake(start: clock.now)))
        look(.simulatorMissing)
    }

    // MARK: Lines

    func connected() {
        state.withLock { state in
            state.isConnected = true
            state.connections += 1
        }
        note(.notice, "A simulator has connected.")
        look(.none)
    }

    func answer(_ line: [UInt8]?, to output: inout [UInt8]) {
        do throws(LockstepError) {
            try tick(line).write(to: &output)
        } catch {
            error.write(to: &output)
            refused(error)
        }
    }

    func silent() {
        state.withLock { $0.isSilent = true }
        note(
            .warning,
            "simulator_silent: the simulator has sent nothing for longer than hardware.lockstep.timeout; the motors are off."
        )
        look(.simulatorSilent)
    }

    func disconnected(isMidLine: Bool) {
        let ticks = state.withLock { $0.ticks }
        note(
            .notice,
            "The simulator disconnected\(isMidLine ? ", in the middle of a line," : "") after \(ticks) ticks; the motors are off."
        )
        let start = clock.now.advanced(bySeconds: Self.pauseSeconds)
        clock.set(start, t: 0)
        housekeeping.restart { state.withLock { $0.engine.restart() } }
        state.withLock { state in
            state.intake = LockstepIntake(start: start)
            state.isConnected = false
            state.isSilent = false
            state.ticks = 0
            state.errors = 0
            state.lastError = nil
            state.pace = Pace()
        }
        look(.simulatorMissing)
    }

    func refuse(to output: inout [UInt8]) {
        note(.warning, "A second simulator was refused: only one simulator can be connected.")
        LockstepError(
            .busy,
            "another simulator is connected, and airframed accepts only one. Stop the other simulator, then connect again."
        ).write(to: &output)
    }

    /// Executes one tick of the loop at the time in the simulator's message.
    private func tick(_ line: [UInt8]?) throws(LockstepError) -> LockstepReply {
        guard let line else {
            throw LockstepError(
                .lineTooLong,
                "the line is longer than \(LockstepSample.longestLine) bytes; airframed skips this line up to its newline"
            )
        }
        let sample = try LockstepSample(parsing: line)
        let result: Result<IMUSample, LockstepError> = state.withLock { state in
            Result { () throws(LockstepError) in try state.intake.admit(sample) }
        }
        let imuSample = try result.get()
        clock.set(imuSample.time, t: sample.t)
        housekeeping.advance(now: imuSample.time, date: WallClock.seconds)
        let reply = state.withLock { state in
            state.isSilent = false
            state.ticks += 1
            state.pace.note(t: sample.t)
            let output = state.engine.tick(imuSample, conditions: state.intake.missing.conditions)
            let snapshot = state.engine.snapshot
            return LockstepReply(
                t: sample.t, output: output, motorType: motorType, attitude: snapshot.attitude,
                mode: snapshot.mode.name)
        }
        housekeeping.drain()
        return reply
    }

    private func refused(_ error: LockstepError) {
        let sentence = "\(error.code.rawValue): \(error.message)"
        let count = state.withLock { state in
            state.errors += 1
            state.lastError = sentence
            return state.errors
        }
        guard count <= Self.loggedErrors else { return }
        note(
            .warning,
            "A simulator's line was refused: \(sentence)"
                + (count == Self.loggedErrors
                    ? " airframed counts further refused lines, but does not write them to the log."
                    : ""))
    }

    /// Publishes the given conditions in the telemetry between two ticks.
    private func look(_ conditions: Conditions) {
        let now = clock.now
        state.withLock { $0.engine.look(conditions, now: now) }
        housekeeping.drain()
    }

    private func note(_ level: Logger.Level, _ sentence: String) {
        housekeeping.note(ConditionReporter.Event(level: level, sentence: sentence))
    }

    // MARK: Report

    /// State of the simulator's connection.
    var report: LockstepStatus {
        state.withLock { state in
            var report = LockstepStatus()
            report.socket = socket
            report.state =
                !state.isConnected ? "waiting" : state.isSilent ? "silent" : "connected"
            report.t = Number(state.intake.lastT ?? .nan)
            report.lines = state.ticks
            report.errors = state.errors
            report.lastError = state.lastError
            report.connections = state.connections
            report.speed = Number(state.pace.speed ?? .nan)
            report.sensors = state.intake.sensors.lockstepNames
            report.missing = state.intake.missing.lockstepNames
            report.ignoredValues = state.intake.ignoredValues
            return report
        }
    }

    func start() {}
    /// Always true, because a simulator switches its motors off when the connection ends.
    func stop() -> Bool { true }
    var threads: [ThreadReport] { [] }
    /// The real time, which always progresses: there are no real motors, and a simulator can pause
    /// between two messages for any time.
    var progress: WatchdogFeeder.Progress {
        let time = UInt64(clamping: cl_now_ns())
        return WatchdogFeeder.Progress(ticks: time, periods: time)
    }
    func histogram(of stage: Stage) -> HistogramSnapshot { stages[stage].snapshot() }
}

/// Speed of a simulator's time, in simulated seconds per real second.
private struct Pace {
    private var mark: (t: Double, wall: Int64)?
    /// Mean speed during the last complete second of real time; nil in the first second.
    private(set) var speed: Double?

    mutating func note(t: Double) {
        let wall = cl_now_ns()
        guard let mark else {
            mark = (t, wall)
            return
        }
        let elapsed = Double(wall - mark.wall) * 1e-9
        guard elapsed >= 1 else { return }
        speed = (t - mark.t) / elapsed
        self.mark = (t, wall)
    }
}

extension IMUSample.Contents {
    /// Conditions that report missing sensors.
    fileprivate var conditions: Conditions {
        var conditions = Conditions.none
        if contains(.joints) || contains(.jointRates) { conditions.insert(.encoderMissing) }
        if contains(.baseGyro) { conditions.insert(.handleIMUMissing) }
        if contains(.magneticField) { conditions.insert(.magnetometerMissing) }
        return conditions
    }
}
