internal import GimbalCore
internal import Realtime

/// Three servos on a PCA9685. Bus thread only.
///
/// A new position is written at most once a frame and only when a count has changed: one transfer for all three, because
/// the register counts up by itself. Off means no pulses: a servo without them lets go.
final class PCA9685Servos: MotorPort {
    private enum State {
        case down
        case asleep
        case waking(since: Instant)
        case up
    }

    private let bus: I2CBus
    private let address: UInt16
    private let chip: PCA9685
    private let channels: [Int]
    private let pulses: ServoPulses
    private var state = State.down
    private var command = I2CExchange(capacity: 2)
    private var off = I2CExchange(capacity: 2)
    private var query = I2CExchange(capacity: 2)
    private var frame = I2CExchange(capacity: 64)
    /// Where each joint's four bytes are in `frame`.
    private var offsets: [Int] = []
    private var last = (yaw: -1, roll: -1, pitch: -1)
    private var isOff = true
    private var lastWrite = Instant(nanoseconds: .min / 2)
    private var lastAudit = Instant(nanoseconds: .min / 2)

    /// How often the prescaler is read back, s: after a power dip the chip sleeps with its own.
    private static let auditSeconds = 0.1
    /// The oscillator's start, s (7.3.1.1: at least 500 µs).
    private static let wakeSeconds = 0.001

    /// - Parameters:
    ///   - bus: Where it is.
    ///   - address: 0x40...0x7F.
    ///   - channels: Outputs of yaw, roll and pitch, 0...15.
    ///   - pulses: What the servos take.
    ///   - chip: Prescaler.
    init(bus: I2CBus, address: UInt16, channels: [Int], pulses: ServoPulses, chip: PCA9685) {
        self.bus = bus
        self.address = address
        self.chip = chip
        self.channels = channels
        self.pulses = pulses
        command.write([0, 0], to: address)
        off.write([PCA9685.allOffHigh, PCA9685.fullOff], to: address)
        _ = query.read(0xFE, count: 1, from: address)
        layOut()
    }

    /// One message for each run of neighbouring channels.
    private func layOut() {
        offsets = [0, 0, 0]
        let order = channels.indices.sorted { channels[$0] < channels[$1] }
        var from = 0
        while from < order.count {
            var to = from + 1
            while to < order.count, channels[order[to]] == channels[order[to - 1]] + 1 { to += 1 }
            let run = order[from..<to]
            let first = PCA9685.register(of: channels[order[from]])
            let start = frame.write(
                [first] + [UInt8](repeating: 0, count: 4 * run.count), to: address)
            for (place, joint) in run.enumerated() { offsets[joint] = start + 1 + 4 * place }
            from = to
        }
    }

    func prepare(now: Instant) throws(BusError) -> Bool {
        switch state {
        case .up:
            guard now.seconds(since: lastAudit) > Self.auditSeconds else { return true }
            lastAudit = now
            try run(query, .write)
            if query.bytes[1] != chip.prescale { state = .down }
        case .down:
            try send(PCA9685.asleep, to: 0x00)
            try send(chip.prescale, to: 0xFE)
            state = .asleep
        case .asleep:
            try run(off, .off)
            // 7.3.2: totem pole outputs, changing at the stop of a transfer.
            try send(0x04, to: 0x01)
            try send(PCA9685.awake, to: 0x00)
            state = .waking(since: now)
        case .waking(let since):
            guard now.seconds(since: since) > Self.wakeSeconds else { return false }
            isOff = true
            last = (-1, -1, -1)
            lastAudit = now
            state = .up
        }
        if case .up = state { return true }
        return false
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard output.enabled else {
            if !isOff { try allOff() }
            return
        }
        guard now.seconds(since: lastWrite) * chip.frameRate >= 0.9 else { return }
        let counts = (
            yaw: chip.counts(pulse: pulses.yaw.pulse(for: output.angle.yaw)),
            roll: chip.counts(pulse: pulses.roll.pulse(for: output.angle.roll)),
            pitch: chip.counts(pulse: pulses.pitch.pulse(for: output.angle.pitch))
        )
        guard isOff || counts != last else { return }
        set(counts.yaw, 0)
        set(counts.roll, 1)
        set(counts.pitch, 2)
        try run(frame, .write)
        last = counts
        lastWrite = now
        isOff = false
    }

    private func set(_ counts: Int, _ joint: Int) {
        let at = offsets[joint]
        frame.bytes[at + 2] = UInt8(counts & 0xFF)
        frame.bytes[at + 3] = UInt8(counts >> 8)
    }

    func allOff() throws(BusError) {
        try run(off, .off)
        isOff = true
        last = (-1, -1, -1)
    }

    private func send(_ value: UInt8, to register: UInt8) throws(BusError) {
        command.bytes[0] = register
        command.bytes[1] = value
        try run(command, .write)
    }

    private func run(
        _ exchange: borrowing I2CExchange, _ operation: BusError.Operation
    ) throws(BusError) {
        do {
            try bus.run(exchange)
        } catch {
            throw BusError(operation: operation, address: address, code: error.code)
        }
    }
}
