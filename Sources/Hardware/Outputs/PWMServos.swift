internal import GimbalCore
internal import Glibc
internal import Realtime

/// Three servos on channels of the board's PWM chip. The servos' thread does not use an I2C bus, so
/// a hung bus cannot block the thread.
///
/// The driver writes a new pulse length at most once per pulse, and only to channels whose pulse
/// length has changed. When the servos are off, they receive no pulses, so they exert no torque.
final class PWMServos: MotorPort {
    private let channels: [SysfsPWM]
    private let numbers: [Int]
    private let pulses: ServoPulses
    private let frameSeconds: Double
    private var last = [-1, -1, -1]
    private var isReady = false
    /// Bits of the channels that may be on.
    private var started: UInt8 = 0
    private static let all: UInt8 = 0b111
    private var lastWrite = Instant(nanoseconds: .min / 2)
    private var nextLook = Instant(nanoseconds: .min / 2)
    /// Reason why the channels are not open; nil while they wait for udev, which has not set the
    /// permissions of their files yet.
    private var lastError: BusError?

    /// Resolution of the pulse length, ns. The resolution is much finer than the resolution of a
    /// servo. The resolution is coarse enough to avoid writes while the camera is at rest.
    private static let resolution = 250.0
    /// Interval between attempts to find a missing channel, s.
    private static let lookSeconds = 0.1

    /// Creates servos.
    ///
    /// - Parameters:
    ///   - chip: Path of the PWM chip, such as `/sys/class/pwm/pwmchip0`.
    ///   - channels: Channels of the servos of yaw, roll and pitch, counted from 0.
    ///   - pulses: Conversion from joint angles to the pulses of the three servos.
    ///   - frameRate: Number of pulses per second that each servo receives.
    ///   - openFile: Function that opens the chip's files; tests replace it.
    init(
        chip: String, channels: [Int], pulses: ServoPulses, frameRate: Double,
        openFile: @escaping SysfsPWM.Open = { SysfsPWM.openForWriting($0) }
    ) {
        frameSeconds = 1 / frameRate
        self.channels = channels.map {
            SysfsPWM(
                chip: chip, channel: $0, periodNanoseconds: Int((1e9 / frameRate).rounded()),
                openFile: openFile)
        }
        numbers = channels
        self.pulses = pulses
    }

    func prepare(now: Instant) throws(BusError) -> Bool {
        if isReady { return true }
        guard now >= nextLook else {
            if let lastError { throw lastError }
            return false
        }
        nextLook = now.advanced(bySeconds: Self.lookSeconds)
        var mustWait = false
        lastError = nil
        for index in channels.indices where !channels[index].isOpen {
            do throws(BusErrno) {
                try channels[index].open(now: now)
            } catch {
                guard error.code == EACCES, channels[index].awaitsPermissions(now: now) else {
                    let failure = self.failure(of: index, .write, error)
                    lastError = failure
                    throw failure
                }
                mustWait = true
            }
        }
        isReady = !mustWait
        return isReady
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else {
            if started != 0 { try allOff() }
            return
        }
        guard started != Self.all || now.seconds(since: lastWrite) >= 0.9 * frameSeconds else {
            return
        }
        try set(0, pulses.yaw, output, .yaw)
        try set(1, pulses.roll, output, .roll)
        try set(2, pulses.pitch, output, .pitch)
        lastWrite = now
    }

    private func set(
        _ index: Int, _ servo: ServoPulse, _ output: MotorOutput, _ axis: GimbalAxis
    ) throws(BusError) {
        // A pulse length of zero switches the output off.
        let seconds = output.power[axis] > 0 ? servo.pulse(for: output.angle[axis]) : 0
        let nanoseconds = Int((seconds * 1e9 / Self.resolution).rounded()) * Int(Self.resolution)
        let bit = UInt8(1) << UInt8(index)
        guard started & bit == 0 || nanoseconds != last[index] else { return }
        do throws(BusErrno) {
            try channels[index].set(nanoseconds: nanoseconds)
            if started & bit == 0 {
                // The channel may be on even if the start reports an error.
                started |= bit
                try channels[index].start()
            }
        } catch {
            throw failure(of: index, .write, error)
        }
        last[index] = nanoseconds
    }

    func allOff() throws(BusError) {
        // If stopping a channel fails, the remaining channels are still stopped.
        var failure: BusError?
        for index in channels.indices where channels[index].isOpen {
            do throws(BusErrno) {
                try channels[index].stop()
                started &= ~(1 << UInt8(index))
            } catch {
                failure = self.failure(of: index, .off, error)
            }
        }
        if let failure { throw failure }
    }

    private func failure(
        of index: Int, _ operation: BusError.Operation, _ error: BusErrno
    ) -> BusError {
        let failure = BusError(
            operation: operation, device: .pwm, address: UInt16(numbers[index]), code: error.code)
        // The PWM chip was removed, so the open files of its channels are no longer valid.
        if error.code == ENODEV {
            channels[index].close()
            started &= ~(1 << UInt8(index))
            isReady = false
            lastError = failure
        }
        return failure
    }
}
