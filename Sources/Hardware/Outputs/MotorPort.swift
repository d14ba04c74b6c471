internal import GimbalCore
internal import Realtime

/// Port that converts a `MotorOutput` into signals. Bus thread only.
protocol MotorPort: AnyObject {
    /// Sets the chip up, or checks that it is still set up. After a set-up the outputs are off.
    ///
    /// - Returns: Whether the chip is ready.
    func prepare(now: Instant) throws(BusError) -> Bool

    /// Writes an output. Does nothing if the output is unchanged, or if the last frame has not
    /// ended.
    func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Switches all outputs off, with as few transfers as possible.
    func allOff() throws(BusError)
}
