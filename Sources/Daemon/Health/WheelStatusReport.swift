import Configuration
import GimbalCore
import Glibc
import Hardware
import Policy
import Port
import Realtime
import Robot
import Wire

extension DriveMotors {
    /// Passes a request to the wheels.
    ///
    /// - Returns: The refusal of a speed while the robot cannot drive. A request to stop is never
    ///   refused. The interlock also receives refused requests, and stays closed while requests
    ///   arrive.
    func refusal(of request: DriveModel.Request) -> Refusal? {
        ask(request)
        guard request.left != 0 || request.right != 0 else { return nil }
        return problem(now: MonotonicClock.now).map(Refusal.wheelsNotReady)
    }

    /// Reason why the robot cannot drive, with its remedy; nil if it can drive.
    private func problem(now: Instant) -> String? {
        if let report {
            if let problem = report.problem(now: now) { return problem }
        } else if !isReady {
            return "the wheels' board does not answer: check its supply, drive.bus and the wires"
        }
        return isHeld
            ? "the robot has just become ready: first send the speeds 0 and 0 (stick in the middle)"
            : nil
    }

    /// State of the wheels for `status`.
    func status(_ settings: Settings, now: Instant) -> WheelStatus {
        var status = WheelStatus(board: settings.drive.board.rawValue)
        let speeds = speeds
        status.leftPercent = Number((speeds.left * 1000).rounded() / 10)
        status.rightPercent = Number((speeds.right * 1000).rounded() / 10)
        status.errors = errors
        if report == nil { status.boardProblem = problem(now: now) }
        status.xgo = report.map { report in
            var xgo = XGOStatus(port: settings.drive.port)
            xgo.problem = problem(now: now)
            xgo.state =
                xgo.problem == nil || !report.isReady(now: now) ? report.state(now: now) : "held"
            xgo.model = report.model?.rawValue
            xgo.firmware = report.model == nil ? nil : report.firmware
            xgo.batteryPercent = Number(report.battery)
            xgo.rollDeg = Number(report.rollDeg)
            xgo.pitchDeg = Number(report.pitchDeg)
            xgo.yawDeg = Number(report.yawDeg)
            xgo.opened = Int(report.opened)
            xgo.replies = Int(report.replies)
            xgo.damagedBytes = Int(report.damaged)
            return xgo
        }
        return status
    }
}

extension XGOReport {
    /// State in one word, as in `XGOStatus`.
    fileprivate func state(now: Instant) -> String {
        if !isOpen { return "missing" }
        if isSilent(now: now) { return "silent" }
        return isFallen ? "fallen" : "ready"
    }

    /// Reason why the robot cannot drive, with its remedy; nil if it can drive.
    fileprivate func problem(now: Instant) -> String? {
        if !isOpen {
            let reason =
                error == 0 ? "it has not been opened yet" : String(cString: strerror(error))
            return
                "the robot's serial port cannot be used (\(reason)): check drive.port and the cable"
        }
        if isSilent(now: now) {
            return
                "the robot's board does not answer: check the robot's switch, drive.port and the wires"
        }
        return isFallen ? "the robot has fallen: set it upright" : nil
    }
}

extension WheelStatus {
    /// Check of the wheels in `doctor`.
    var check: DoctorCheck {
        DoctorCheck(
            "wheels", problem != nil ? .fail : errors > 0 ? .warn : .ok,
            errors > 0 ? "\(summary), \(errors) failed transfers" : summary,
            remedy: problem != nil
                ? "Fix the problem that is named above; airframed then uses the board again automatically."
                : errors > 0 ? "If the number grows, check the wires of the wheels' board." : "")
    }
}
