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

    /// Creates the axis with the given name; nil if no axis has this name.
    public init?(name: String) {
        guard let axis = GimbalAxis.allCases.first(where: { $0.name == name }) else { return nil }
        self = axis
    }
}
