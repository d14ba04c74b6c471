import Configuration
package import GimbalCore
import Hardware
package import Realtime

/// The configured loop with its connections to other parts. `Daemon` passes the connections to the
/// parts that use them.
///
/// The type is `package`, so that the file can import GimbalCore and Realtime with `package
/// import`. Without `package import`, a compiler with assertions fails at the destructuring of a
/// noncopyable value of these modules (MoveOnlyAddressChecker of Swift 6.2).
package struct LoopAssembly: ~Copyable {
    /// Source of the loop's ticks: real-time threads or a simulator.
    package enum Source: ~Copyable {
        /// The ticks run in real time, on separate threads.
        case realtime(GimbalRuntime)
        /// The engine executes a tick for each message from a simulator, which supplies the clock.
        case lockstep(LockstepEngine)
    }

    package var source: Source
    package var commands: RingWriter<TimedCommand>
    package var tuning: MailboxWriter<Stabilizer.Parameters>
    package var telemetry: RingReader<TelemetryRecord>
    package var replayLog: ReplayLogConsumer
    /// Reports of the sensors; the reports remain empty if there are no real sensors.
    let sensors = SensorReports()

    /// Creates the loop.
    ///
    /// - Parameters:
    ///   - settings: Backend, rate and threads.
    ///   - stabilizer: The loop's tuning at the start.
    /// - Throws: `DaemonError` if the simulated handle's motion cannot be read.
    init(_ settings: Settings, _ stabilizer: Stabilizer.Parameters) throws {
        switch settings.hardware.backend {
        case .simulated, .linux:
            let isLinux = settings.hardware.backend == .linux
            let bus: any GimbalBus =
                isLinux
                ? settings.wiring.makeBus(
                    reports: sensors, period: 1 / Double(settings.loop.rateHz))
                : try SimulatedBus(settings)
            let assembly = GimbalRuntime.assemble(
                parameters: stabilizer, bus: bus,
                outputs: isLinux
                    ? settings.wiring.makeOutputs(drives: sensors.drives) : OutputBuses(),
                settings: settings.runtimeSettings)
            source = .realtime(assembly.runtime)
            commands = assembly.commands
            tuning = assembly.tuning
            telemetry = assembly.telemetry
            replayLog = assembly.replayLog
        case .lockstep:
            let assembly = LockstepEngine.assemble(
                parameters: stabilizer, settings: settings.runtimeSettings)
            source = .lockstep(assembly.engine)
            commands = assembly.commands
            tuning = assembly.tuning
            telemetry = assembly.telemetry
            replayLog = assembly.replayLog
        }
    }
}

extension LoopAssembly.Source {
    /// Converts the assembly to the driver of the loop, which is ready to start.
    ///
    /// - Parameters:
    ///   - settings: Settings with the motors and the socket.
    ///   - clock: The loop's clock.
    ///   - housekeeping: Periodic tasks outside the loop.
    /// - Returns: A `RealtimeDriver` or a `LockstepSession`.
    consuming func driver(
        _ settings: Settings, clock: LoopClock, housekeeping: Housekeeping
    ) -> any LoopDriver {
        switch consume self {
        case .realtime(let runtime):
            RealtimeDriver(runtime: runtime)
        case .lockstep(let engine):
            LockstepSession(
                engine: engine, clock: clock, housekeeping: housekeeping,
                motorType: settings.motors.type, socket: settings.hardware.lockstep.socket)
        }
    }
}
