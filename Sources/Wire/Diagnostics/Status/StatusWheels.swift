import PlainText

/// State of the two wheels, or of a walking robot.
public struct WheelStatus: Hashable, Sendable, Codable {
    /// Board of the wheels, as in `drive.board`.
    public var board: String
    /// Speed of the left wheel, per cent of full speed, forwards positive.
    public var leftPercent: Number = .unknown
    /// Speed of the right wheel, per cent of full speed, forwards positive.
    public var rightPercent: Number = .unknown
    /// Number of failed transfers to the board since the start.
    public var errors = 0
    /// Reason why the wheels of an I2C board cannot turn now, as a sentence; absent if they can
    /// turn, and for an XGO robot.
    public var boardProblem: String?
    /// State of an XGO robot; absent for other boards.
    public var xgo: XGOStatus?

    /// Creates the state of wheels on the given board.
    public init(board: String) { self.board = board }

    /// Reason why the wheels cannot turn now; nil if they can turn.
    public var problem: String? { boardProblem ?? xgo?.problem }

    /// The state in one line, such as "xgo, 20 % 20 %, rider, battery 80 %".
    public var summary: String {
        let speeds = [leftPercent, rightPercent].map { "\(Format.fixed($0.value, 0)) %" }
        let state = [boardProblem, xgo?.summary].compactMap(\.self)
        return ([board, speeds.joined(separator: " ")] + state).joined(separator: ", ")
    }
}

/// State of an XGO robot, as its board reports it.
public struct XGOStatus: Hashable, Sendable, Codable {
    /// Device file of the serial port.
    public var port: String
    /// State: "ready", "held" (until the next request to stop), "fallen", "silent" or "missing" (the
    /// port cannot be used).
    public var state = "missing"
    /// Reason why the robot cannot drive now, as a sentence; absent if it can drive.
    public var problem: String?
    /// Model: "rider", "mini", "lite" or "other"; absent until the board has answered.
    public var model: String?
    /// Version of the firmware; absent until the board has answered.
    public var firmware: String?
    /// Charge of the battery, %.
    public var batteryPercent: Number = .unknown
    /// Roll that the board measures, degrees, with the robot's sign convention.
    public var rollDeg: Number = .unknown
    /// Pitch that the board measures, degrees, with the robot's sign convention.
    public var pitchDeg: Number = .unknown
    /// Yaw that the board measures, degrees, with the robot's sign convention.
    public var yawDeg: Number = .unknown
    /// Number of times that the serial port was opened.
    public var opened = 0
    /// Number of valid replies since the start.
    public var replies = 0
    /// Number of damaged bytes since the start.
    public var damagedBytes = 0

    /// Creates the state of a port that has not been opened.
    public init(port: String) { self.port = port }

    /// The state in one line.
    public var summary: String {
        if let problem { return problem }
        var parts = [[model, firmware].compactMap(\.self).joined(separator: " ")]
        if let percent = batteryPercent.known {
            parts.append("battery \(Format.fixed(percent, 0)) %")
        }
        if let roll = rollDeg.known, let pitch = pitchDeg.known, let yaw = yawDeg.known {
            let angles = [roll, pitch, yaw].map { Format.fixed($0, 1) }.joined(separator: " ")
            parts.append("roll pitch yaw \(angles)°")
        }
        return parts.joined(separator: ", ")
    }
}
