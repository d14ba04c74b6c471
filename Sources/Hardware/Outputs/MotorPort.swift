internal import GimbalCore
internal import Realtime

/// Port that converts a `MotorOutput` into signals. Bus thread only.
protocol MotorPort: AnyObject {
    /// Brings the chip up, or looks whether it still is; outputs are off afterwards if it had to be
    /// brought up.
    ///
    /// - Returns: Whether it is ready.
    func prepare(now: Instant) throws(BusError) -> Bool

    /// Puts an output in force; does nothing when nothing has changed or the last frame is not
    /// over.
    func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Everything off, by the shortest way.
    func allOff() throws(BusError)
}
