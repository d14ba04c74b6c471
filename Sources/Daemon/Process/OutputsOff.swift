public import Configuration
import GimbalCore
import Glibc
import Hardware
import Port
import Realtime

/// Program that switches the power stages off, after airframed has ended unexpectedly with the
/// motors on. Without this program, a servo driver on a bus would continue to send its last pulses.
public enum OutputsOff {
    /// Number of attempts to switch an output off.
    static let attempts = 20
    /// Pause between two attempts, µs; it gives a full transmit queue time to become empty.
    private static let pause: UInt32 = 2000

    /// Reason not to switch anything off: systemd runs this program (`ExecStopPost`) after a start
    /// of airframed that was refused. A start is refused before it switches the motors on, usually
    /// because another airframed runs, whose motors must stay on.
    ///
    /// - Parameter exitStatus: Exit status of the service's main process, which systemd passes in
    ///   the variable EXIT_STATUS; nil if a person runs this program.
    /// - Returns: A sentence; nil if the motors must be switched off.
    public static func exemption(exitStatus: String?) -> String? {
        guard exitStatus == "\(DaemonError.cannotCreate)" else { return nil }
        return
            "This start of airframed was refused before it switched the motors on: nothing to turn off."
    }

    /// Switches the power stages off.
    ///
    /// - Parameters:
    ///   - settings: Settings, which name the buses and chips.
    ///   - isComplete: False if a part of the configuration could not be read. Settings without
    ///     motors do not then mean that there are no motors.
    /// - Returns: A sentence that describes the result.
    /// - Throws: `DaemonError` if the motors did not confirm that they are off, or if an incomplete
    ///   configuration names no motors.
    public static func run(
        _ settings: Settings, isComplete: Bool
    ) throws(DaemonError) -> String {
        var outputs: [any OutputBus] = []
        var supply: (any OutputBus)?
        let drives = DriveReports()
        if settings.hardware.backend == .linux {
            let wiring = settings.wiring
            let parts = wiring.makeOutputs(drives: drives)
            let sensorsBus: any OutputBus = wiring.makeBus(
                reports: SensorReports(), period: 1 / Double(settings.loop.rateHz))
            // The GPIO line of the motors' power is switched first, because it does not depend on a
            // bus.
            if settings.switchesMotorSupply {
                supply = parts.power
                outputs = [parts.motors, sensorsBus].compactMap(\.self)
            } else {
                outputs = [parts.power, parts.motors, sensorsBus].compactMap(\.self)
            }
        }
        let wheels = settings.drive.board == .simulated ? nil : settings.wheels
        guard !outputs.isEmpty || wheels != nil else {
            guard isComplete else {
                throw DaemonError(
                    sentence:
                        "The valid part of the configuration names no motors, so no motors were switched off; cut their power.",
                    exitStatus: DaemonError.inputOutput)
            }
            return
                "Backend \(settings.hardware.backend.rawValue) drives no motors: nothing to turn off."
        }
        let linux = settings.hardware.linux
        var sentence = try run(outputs, wheels, supply: supply, linux: linux)
        if supply == nil, settings.hardware.backend == .linux, linux.motors == .busServo {
            let servos = GimbalAxis.allCases.filter { linux.servoId[$0] >= 0 }
            sentence = warning(drives, servos: servos) ?? sentence
        }
        return isComplete
            ? sentence
            : "\(sentence) A part of the configuration could not be read: if other motors still run, cut their power."
    }

    /// Warning about servos that have not reported that they are off, for example because they have
    /// no supply; nil if all servos are off.
    ///
    /// - Parameters:
    ///   - drives: Reports of the servos.
    ///   - servos: Joints that have a servo.
    /// - Returns: The warning.
    static func warning(_ drives: DriveReports, servos: [GimbalAxis]) -> String? {
        let doubtful = servos.filter { drives[$0].isRunning != false }
        guard !doubtful.isEmpty else { return nil }
        let names = doubtful.map(\.name).joined(separator: ", ")
        return
            "The requests to switch the motors off were sent, but servos have not confirmed them: \(names). If these servos have supply, cut it."
    }

    /// Switches off the outputs on every bus, and the wheels. A failure on one bus does not prevent
    /// the others from being switched off. Without this call, the wheels would continue at their
    /// last speed.
    ///
    /// - Parameters:
    ///   - buses: The outputs, apart from the switch of the drives' supply.
    ///   - wheels: The wheels; nil if there are none.
    ///   - supply: Switch of the drives' supply; nil if there is none. After the switch is off, the
    ///     drives need no command, and cannot confirm one.
    ///   - linux: Settings of the buses, for the remedies of failures.
    /// - Returns: A sentence that describes the result.
    /// - Throws: `DaemonError` if an output did not confirm that it is off.
    static func run(
        _ buses: [any OutputBus], _ wheels: DriveMotors? = nil, supply: (any OutputBus)? = nil,
        linux: Settings.Linux = Settings().hardware.linux
    ) throws(DaemonError) -> String {
        let switchFailure = supply.flatMap(failure)
        let busFailures = buses.compactMap(failure)
        let isSupplyOff = supply != nil && switchFailure == nil
        var failures = isSupplyOff ? [] : [switchFailure].compactMap(\.self) + busFailures
        do throws(BusError) { try wheels?.switchOff() } catch { failures.append(error) }
        guard !failures.isEmpty else { return "The motors are off." }
        let why = failures.map { failure in
            let remedy = failure.remedy(canInterface: linux.canInterface, canKbit: linux.canKbit)
            return " \(failure). \(remedy)"
        }.joined()
        throw DaemonError(
            sentence: "The motors did not confirm that they are off; cut their power.\(why)",
            exitStatus: DaemonError.inputOutput)
    }

    /// Switches the outputs on one bus off. Some motors are switched off only after `allOff` has
    /// opened the motors' device; therefore `write` follows `allOff`.
    ///
    /// - Returns: The error, or nil after success.
    private static func failure(_ bus: any OutputBus) -> BusError? {
        var bus = bus
        var last: BusError?
        for attempt in 0..<attempts {
            if attempt > 0 { usleep(pause) }
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
