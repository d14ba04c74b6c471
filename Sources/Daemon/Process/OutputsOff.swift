public import Configuration
import GimbalCore
import Hardware
import Realtime

/// Program that switches the power stages off, after airframed has ended unexpectedly with the
/// motors on. Without this program, a servo driver on a bus would continue to send its last pulses.
public enum OutputsOff {
    /// Number of attempts to switch an output off.
    static let attempts = 20

    /// Switches the power stages off.
    ///
    /// - Parameter settings: Settings with the buses and chips.
    /// - Returns: A sentence that describes the result.
    /// - Throws: `DaemonError` if the motors did not confirm that they are off.
    public static func run(_ settings: Settings) throws(DaemonError) -> String {
        guard settings.hardware.backend == .linux else {
            return
                "Backend \(settings.hardware.backend.rawValue) drives no motors: nothing to turn off."
        }
        let wiring = settings.wiring
        let outputs = wiring.makeOutputs()
        let sensorsBus: any OutputBus = wiring.makeBus(
            reports: SensorReports(), period: 1 / Double(settings.loop.rateHz))
        // The GPIO line of the motors' power is switched first, because it does not depend on a
        // bus.
        return try run([outputs.power, outputs.motors, sensorsBus].compactMap(\.self))
    }

    /// Switches the outputs on every bus off, even if the switching fails on another bus.
    static func run(_ buses: [any OutputBus]) throws(DaemonError) -> String {
        let failures = buses.compactMap(failure)
        guard !failures.isEmpty else { return "The motors are off." }
        let why = failures.map { " \($0). \($0.remedy)" }.joined()
        throw DaemonError(
            sentence: "The motors did not confirm that they are off; cut their power.\(why)",
            exitStatus: DaemonError.inputOutput)
    }

    /// Switches the outputs on one bus off. Some motors are switched off only after their device is
    /// opened; for these motors, `write` must follow `allOff`.
    ///
    /// - Returns: The error, or nil after success.
    private static func failure(_ bus: any OutputBus) -> BusError? {
        var bus = bus
        var last: BusError?
        for _ in 0..<attempts {
            do throws(BusError) {
                try bus.allOff()
                try bus.write(.off, now: MonotonicClock.now)
                return nil
            } catch {
                last = error
            }
        }
        return last
    }
}
