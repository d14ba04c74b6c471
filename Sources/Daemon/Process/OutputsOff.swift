public import Configuration
import GimbalCore
import Hardware
import Realtime

/// Turns the power stages off from a process of its own: for when airframed has died with the
/// motors on. A servo driver on a bus keeps sending its last pulses for ever.
public enum OutputsOff {
    /// How often it is tried.
    static let attempts = 20

    /// Does it.
    ///
    /// - Parameter settings: Says which bus and which chips.
    /// - Returns: What was done, as a sentence.
    /// - Throws: `DaemonError` when the motors did not confirm it.
    public static func run(_ settings: Settings) throws(DaemonError) -> String {
        guard settings.hardware.backend == .linux else {
            return
                "Backend \(settings.hardware.backend.rawValue) drives no motors: nothing to turn off."
        }
        let wiring = settings.wiring
        let outputs = wiring.makeOutputs()
        let sensorsBus: any OutputBus = wiring.makeBus(
            reports: SensorReports(), period: 1 / Double(settings.loop.rateHz))
        // The line that switches the motors first: it works whatever the buses do.
        return try run([outputs.power, outputs.motors, sensorsBus].compactMap(\.self))
    }

    /// Every bus gets its turn, whatever becomes of the others.
    static func run(_ buses: [any OutputBus]) throws(DaemonError) -> String {
        let failures = buses.compactMap(failure)
        guard !failures.isEmpty else { return "The outputs are off." }
        let why = failures.map { " \($0). \($0.remedy)" }.joined()
        throw DaemonError(
            sentence: "The motors did not confirm that they are off; cut their power.\(why)",
            exitStatus: DaemonError.inputOutput)
    }

    /// Turns one bus off. The write after it is for motors that have to be opened first, and are
    /// off then.
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
