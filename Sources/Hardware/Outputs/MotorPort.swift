internal import GimbalCore
internal import Realtime

/// Port that converts a `MotorOutput` into signals. Bus thread only.
protocol MotorPort: AnyObject {
    /// Sets the chip up, or checks that it still is. After a set-up the outputs are off.
    ///
    /// - Returns: Whether the chip is ready.
    func prepare(now: Instant) throws(BusError) -> Bool

    /// Puts an output in force; does nothing if the output is unchanged or the last frame is not
    /// over.
    func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Switches all outputs off, by the shortest way.
    func allOff() throws(BusError)
}
