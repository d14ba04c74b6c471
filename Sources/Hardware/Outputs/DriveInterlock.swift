internal import GimbalCore

/// Interlock of the wheels. It closes when the board cannot drive, because its cable is unplugged, it
/// is silent, or the robot has fallen. It opens again only after a request to stop, or after a
/// request has expired, so that the robot does not start while a person still holds the stick.
struct DriveInterlock {
    /// True if the wheels must not turn.
    private(set) var isClosed = false

    /// Evaluates the newest request.
    ///
    /// - Parameters:
    ///   - request: The newest request.
    ///   - isReady: True if the board can drive.
    ///   - now: Present time.
    /// - Returns: The request, or a request to stop while the interlock is closed.
    mutating func pass(
        _ request: DriveModel.Request, isReady: Bool, now: Instant
    ) -> DriveModel.Request {
        if !isReady {
            isClosed = true
        } else if isClosed {
            let isAtRest = request.left == 0 && request.right == 0
            if isAtRest || now >= request.validUntil { isClosed = false }
        }
        return isClosed ? .none : request
    }
}
