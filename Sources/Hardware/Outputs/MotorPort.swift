internal import GimbalCore
internal import Realtime

/// Interface of a motor chip's driver, which converts a `MotorOutput` into signals for the motors.
/// Only the bus thread uses a `MotorPort`.
protocol MotorPort: AnyObject {
    /// Sets the motor chip up step by step, or checks that the chip is still set up. After a set-up
    /// all outputs of the chip are off.
    ///
    /// - Returns: True if the motor chip is ready for outputs.
    func prepare(now: Instant) throws(BusError) -> Bool

    /// Writes an output to the chip. The driver writes nothing if the output is unchanged, or if
    /// the present period of a servo's pulses has not ended.
    func write(_ output: MotorOutput, now: Instant) throws(BusError)

    /// Switches all outputs off, with as few transfers as possible.
    func allOff() throws(BusError)
}
