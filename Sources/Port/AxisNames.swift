public import GimbalCore

extension GimbalAxis {
    /// Name of the axis in settings, on sockets and in the log.
    public var name: String {
        switch self {
        case .yaw: "yaw"
        case .roll: "roll"
        case .pitch: "pitch"
        }
    }
}
