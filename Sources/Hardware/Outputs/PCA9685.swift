/// NXP PCA9685, a chip with 16 PWM outputs: its registers and their values, without the bus. Data
/// sheet: PCA9685, revision 4.
struct PCA9685: Sendable {
    /// Pulse rate of the chip for the value of `prescale`, pulses per second.
    let frameRate: Double
    /// Value of the prescaler register.
    let prescale: UInt8

    /// Computes the prescaler (7.3.5): `round(oscillator / (4096 rate)) - 1`, 3...255.
    ///
    /// - Parameters:
    ///   - frameRate: Desired pulses per second, 24...1526.
    ///   - oscillator: Frequency of the chip's oscillator, Hz. The nominal frequency is 25 MHz;
    ///     measured chips deviate by up to 8 %.
    init(frameRate: Double, oscillator: Double) {
        let divider = min(max((oscillator / (4096 * frameRate)).rounded(), 4), 256)
        prescale = UInt8(divider - 1)
        self.frameRate = oscillator / (4096 * divider)
    }

    /// First of the four registers of an output (section 7.3.3). The four registers contain the
    /// counts at which the output switches on and off: ON low byte, ON high byte, OFF low byte, OFF
    /// high byte.
    static func register(of channel: Int) -> UInt8 { UInt8(0x06 + 4 * channel) }

    /// Value of register MODE1: auto-increment on, sleep off (7.3.1).
    static let awake: UInt8 = 0x20
    /// Value of register MODE1: auto-increment on, sleep on. The prescaler can be written only
    /// during sleep.
    static let asleep: UInt8 = 0x30
    /// Register ALL_LED_OFF_H (7.3.4), and the bit that switches an output off, regardless of the
    /// output's other bits.
    static let allOffHigh: UInt8 = 0xFD
    static let fullOff: UInt8 = 0x10

    /// Converts the length of a pulse, s, to counts of the chip. The period of the pulses is 4096
    /// counts.
    func counts(pulse seconds: Double) -> Int {
        min(max(Int((seconds * frameRate * 4096).rounded()), 0), 4095)
    }
}
