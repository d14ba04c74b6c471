import PlainText

// One-line summaries for `status`, `monitor` and `doctor`.

extension RobotStatus {
    /// Text with the positions of a robot's motors, such as `steps of slider 0, x 120 from home, y
    /// -45; 0 line errors`.
    public var summary: String {
        let places = motors.map { motor in
            let home =
                switch motor.homing {
                case "done": " from home"
                case "seeking", "leaving": " (moves to its home switch)"
                case "failed": " (home switch not found)"
                default: ""
                }
            return "\(motor.axis) \(motor.positionSteps)\(home)"
        }
        let problem = problem.map { "; problem of the GPIO lines: \($0)" } ?? ""
        return "steps of " + places.joined(separator: ", ")
            + "; \(Format.count(lineErrors)) line errors" + problem
    }
}

extension LockstepStatus {
    /// Text with the state of the simulator, such as `connected, t 12.345 s, 12 346 lines, 0
    /// errors, 8.1 x real time, with joints; /run/…/lockstep.sock`.
    public var summary: String {
        guard state != "waiting" else { return "waiting for a simulator at \(socket)" }
        let sensors = sensors.isEmpty ? "" : ", with \(sensors.joined(separator: " "))"
        let missing = missing.isEmpty ? "" : ", missing \(missing.joined(separator: " "))"
        return state + ", t \(Format.fixed(t.value, 3)) s"
            + ", \(Format.count(lines)) lines, \(Format.count(errors)) errors"
            + ", \(Format.fixed(speed.value, 1)) x real time" + sensors + missing + "; \(socket)"
    }
}

extension MemoryStatus {
    /// Text with the memory of the process, such as `41.2 MB resident, 38.0 MB locked, 12 major
    /// faults`.
    public var summary: String {
        "\(Format.fixed(residentKb.value / 1024, 1)) MB resident"
            + ", \(Format.fixed(lockedKb.value / 1024, 1)) MB locked"
            + ", \(Format.count(majorFaults)) major faults"
    }
}

extension IMUStatus {
    /// True if any reading since the start was at full scale.
    public var isAtFullScale: Bool { gyroSaturatedSamples + accelClippedSamples > 0 }
}
