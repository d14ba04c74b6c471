internal import GimbalCore
internal import Realtime

/// Outputs of a PCA9685. This class sets the chip up, and writes all outputs in one transfer. Only
/// the bus thread uses a `PCA9685Outputs`.
final class PCA9685Outputs {
    private enum State {
        case down
        case asleep
        case waking(since: Instant)
        case up
    }

    /// Properties of the chip: its prescaler, and the conversion of pulse lengths to counts.
    let chip: PCA9685
    /// True if every output of the chip is off.
    private(set) var isOff = true
    private let bus: I2CBus
    private let address: UInt16
    private var state = State.down
    private var command = I2CExchange(capacity: 2)
    private var off = I2CExchange(capacity: 2)
    private var query = I2CExchange(capacity: 2)
    private var scaleQuery = I2CExchange(capacity: 2)
    private var frame = I2CExchange(capacity: 128)
    /// Offset of the four bytes of each output in `frame`.
    private var offsets: [Int]
    private var isChanged = false
    private var lastAudit = Instant(nanoseconds: .min / 2)
    private var audits = 0
    private var lastOff = Instant(nanoseconds: .min / 2)

    /// Interval at which a register is read back, s: MODE1 and PRE_SCALE in turn. After a short loss
    /// of power, the chip sleeps and has another prescaler. While the outputs must be off, the
    /// request to switch them off is repeated at the same interval.
    private static let auditSeconds = 0.1
    /// Time from the end of sleep until the chip's oscillator runs, s (7.3.1.1: at least 500 µs).
    private static let wakeSeconds = 0.001

    /// Creates outputs.
    ///
    /// - Parameters:
    ///   - bus: Bus of the chip.
    ///   - address: I2C address of the chip, 0x40...0x7F.
    ///   - channels: Numbers of the outputs, all different, 0...15.
    ///   - chip: Prescaler of the chip.
    init(bus: I2CBus, address: UInt16, channels: [Int], chip: PCA9685) {
        self.bus = bus
        self.address = address
        self.chip = chip
        offsets = [Int](repeating: 0, count: channels.count)
        command.write([0, 0], to: address)
        off.write([PCA9685.allOffHigh, PCA9685.fullOff], to: address)
        _ = query.read(0x00, count: 1, from: address)
        _ = scaleQuery.read(0xFE, count: 1, from: address)
        layOut(channels)
    }

    /// The chip increments the register number automatically, so one message is created for each
    /// group of consecutive outputs.
    private func layOut(_ channels: [Int]) {
        let order = channels.indices.sorted { channels[$0] < channels[$1] }
        var from = 0
        while from < order.count {
            var to = from + 1
            while to < order.count, channels[order[to]] == channels[order[to - 1]] + 1 { to += 1 }
            let run = order[from..<to]
            let first = PCA9685.register(of: channels[order[from]])
            let start = frame.write(
                [first] + [UInt8](repeating: 0, count: 4 * run.count), to: address)
            for (place, output) in run.enumerated() { offsets[output] = start + 1 + 4 * place }
            from = to
        }
    }

    /// Number of bits that one write of all outputs transfers.
    var frameBits: Int { frame.wireBits }

    /// Sets the chip up step by step, or checks that the chip is still set up. After a set-up all
    /// outputs of the chip are off.
    ///
    /// - Returns: True if the chip is ready for outputs.
    func prepare(now: Instant) throws(BusError) -> Bool {
        switch state {
        case .up:
            guard now.seconds(since: lastAudit) > Self.auditSeconds else { return true }
            lastAudit = now
            audits &+= 1
            if try !(audits % 2 == 0 ? isScaled() : isAwake()) { state = .down }
        case .down:
            try send(PCA9685.asleep, to: 0x00)
            try send(chip.prescale, to: 0xFE)
            state = .asleep
        case .asleep:
            try bus.run(off, .off, at: address)
            // MODE2 (section 7.3.2): totem-pole outputs, which change at the stop condition of a
            // transfer.
            try send(0x04, to: 0x01)
            try send(PCA9685.awake, to: 0x00)
            state = .waking(since: now)
        case .waking(let since):
            guard now.seconds(since: since) > Self.wakeSeconds else { return false }
            // The chip can have lost its power again during the set-up.
            guard try isScaled() else {
                state = .down
                return false
            }
            isOff = true
            lastAudit = now
            state = .up
        }
        if case .up = state { return true }
        return false
    }

    /// True if MODE1 shows that the chip does not sleep.
    private func isAwake() throws(BusError) -> Bool {
        try shows(query, PCA9685.awake, mask: PCA9685.asleep)
    }

    /// True if the chip has kept its prescaler.
    private func isScaled() throws(BusError) -> Bool {
        try shows(scaleQuery, chip.prescale, mask: 0xFF)
    }

    /// True if a register has the value in the bits of the mask. The bus has no checksum, so a wrong
    /// value must be read twice.
    private func shows(
        _ query: borrowing I2CExchange, _ value: UInt8, mask: UInt8
    ) throws(BusError) -> Bool {
        for _ in 0..<2 {
            try bus.run(query, .write, at: address)
            if query.bytes[1] & mask == value { return true }
        }
        return false
    }

    /// Sets the duration for which an output is high, in counts of a pulse period of 4096 counts.
    /// The next call of `write` transfers the counts to the chip.
    func set(_ counts: Int, at index: Int) {
        let at = offsets[index]
        // Section 7.3.3: ON and OFF must differ; a separate bit switches an output off completely.
        let (low, high) =
            counts > 0
            ? (UInt8(counts & 0xFF), UInt8(min(counts, 4095) >> 8)) : (0, PCA9685.fullOff)
        if frame.bytes[at + 2] != low || frame.bytes[at + 3] != high { isChanged = true }
        frame.bytes[at + 2] = low
        frame.bytes[at + 3] = high
    }

    /// Writes all outputs in one transfer if a value has changed.
    ///
    /// - Returns: True if a transfer was necessary, because a value had changed.
    func write() throws(BusError) -> Bool {
        guard isOff || isChanged else { return false }
        try bus.run(frame, .write, at: address)
        isOff = false
        isChanged = false
        return true
    }

    /// Keeps every output of the chip off. The request is repeated, because the bus has no checksum:
    /// the chip acknowledges a damaged request, which leaves the outputs on.
    func keepOff(now: Instant) throws(BusError) {
        guard !isOff || now.seconds(since: lastOff) > Self.auditSeconds else { return }
        try allOff()
        lastOff = now
    }

    /// Switches every output of the chip off.
    func allOff() throws(BusError) {
        try bus.run(off, .off, at: address)
        isOff = true
    }

    private func send(_ value: UInt8, to register: UInt8) throws(BusError) {
        command.bytes[0] = register
        command.bytes[1] = value
        try bus.run(command, .write, at: address)
    }
}
