internal import GimbalCore
internal import Realtime

/// GPIO line that switches the motors: it controls the output enable pin of the motors' chip, or
/// the motors' power. A separate thread switches the line off, so that a hung bus cannot prevent
/// the switching. `MotorSupply` decides when the supply of drives is on.
///
/// `@unchecked Sendable`, because the object is passed once to the thread that switches the line.
final class PowerLine: OutputBus, @unchecked Sendable {
    private let line: GPIOLines
    private let number: UInt16
    private let isSupply: Bool
    private var isOn: Bool?

    /// Creates a power line.
    ///
    /// - Parameters:
    ///   - chip: Device file of the GPIO chip, such as `/dev/gpiochip0`.
    ///   - line: Number of the line on the GPIO chip.
    ///   - isActiveLow: True if a low level enables the motors, as at the OE pin of a PCA9685.
    ///   - isSupply: True if the line switches the supply of drives that report their state.
    init(chip: String, line: Int, isActiveLow: Bool, isSupply: Bool) {
        self.isSupply = isSupply
        self.line = GPIOLines(
            chip: chip, lines: [line], activeLow: isActiveLow ? 1 : 0, isOutput: true)
        number = UInt16(line)
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        try set(isSupply ? output.isSupplied : output.enabled, .write, now: now)
    }

    func allOff() throws(BusError) { try set(false, .off, now: MonotonicClock.now) }

    private func set(_ on: Bool, _ operation: BusError.Operation, now: Instant) throws(BusError) {
        guard isOn != on else { return }
        do throws(BusErrno) {
            try line.take(now: now)
            try line.set(on ? 1 : 0, mask: 1)
            isOn = on
        } catch {
            isOn = nil
            throw BusError(operation: operation, device: .gpio, address: number, code: error.code)
        }
    }
}
