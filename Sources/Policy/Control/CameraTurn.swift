import GimbalCore
import Port

/// Turn of the camera that ends after a dead-man time, and that the client must therefore repeat.
struct CameraTurn: Sendable {
    /// True while the camera turns.
    private(set) var isActive = false
    /// Requested rates of mode `tracking`, rad/s. A request can contain only one of them: apps send
    /// pan and tilt separately.
    private var (pan, tilt) = (0.0, 0.0)

    /// Updates the turn with an accepted request.
    ///
    /// - Returns: True if the request continues the turn; false if the request ends the turn; nil
    ///   for another request.
    mutating func note(_ request: MotionRequest) -> Bool? {
        var isTurning = request.isTurning
        if case .camera(.track(let pan, let tilt)) = request.effect {
            if !pan.isNaN { self.pan = pan }
            if !tilt.isNaN { self.tilt = tilt }
            isTurning = self.pan != 0 || self.tilt != 0
        } else {
            (pan, tilt) = (0, 0)
        }
        isActive = isTurning ?? isActive
        return isTurning
    }
}
