import GimbalCore
import Realtime
import Glibc

@testable import Hardware

/// Simulated chip behind `ChipLink`. Its registers behave like those of the real chip at reset,
/// power-up and reading. It has a new sample every millisecond, and tests can cause faults. The
/// rate of a sample contains the number of the sample. The chip allocates memory only in `init`.
final class FakeChip: ChipLink {
    enum Kind: CaseIterable { case bmi088, mpu6050, mpu6500, mpu9250, icm42688p, icm20948 }

    let kind: Kind
    var now = Instant(nanoseconds: 0)
    private(set) var transfers = 0
    /// Errno of every transfer; 0 if transfers succeed.
    var failing: Int32 = 0
    /// Number of writes that succeed before one write fails; nil if no write fails.
    var writesBeforeFailure: Int?
    /// True if writes succeed in spite of `failing`.
    var takesWrites = false
    /// Value that every register reads; nil if registers read their content.
    var constant: UInt8?
    var isFrozen = false
    var hasWrongIdentity = false
    /// Number of the next readings of single registers in which one bit is wrong.
    var damagedReads = 0
    /// True if the magnetometer answers through the chip's I2C master.
    var hasMagnetometer = true
    /// Number of the next writes of the magnetometer's mode that have no effect.
    var lostModes = 0
    /// Register with the magnetometer's mode: CNTL1 of an AK8963, CNTL2 of an AK09916.
    private(set) var magnetometerMode: UInt8 = 0
    /// Factory trim of an MPU-6050's self-test. With 0, the chip passes the self-test; with another
    /// value it fails, because its measurements do not change during the test.
    var trim: UInt8 = 0
    /// Number of packets that a full FIFO holds beyond its capacity.
    var cached = 0
    /// True if writes that empty the FIFO have no effect.
    var keepsBuffer = false
    /// Number of bytes after which the next read of the FIFO's data fails; nil if it succeeds.
    var bytesBeforeFailure: Int?

    private let registers: UnsafeMutablePointer<UInt8>
    private let gathered: UnsafeMutableRawBufferPointer
    private let pieces: UnsafeMutablePointer<RegisterRead>
    private var pieceCount = 0
    private var shown = -1
    private var bank = 0
    /// Numbers of the samples in the buffer.
    private var collected = 0..<0
    /// Number of bytes of the oldest packet that an interrupted read has removed.
    private var removed = 0
    private var wasFrozen = false

    init(_ kind: Kind) {
        self.kind = kind
        registers = .allocate(capacity: 512)
        gathered = .allocate(byteCount: 512, alignment: 8)
        pieces = .allocate(capacity: 4)
        registers.initialize(repeating: 0, count: 512)
        reset(part: 0)
        reset(part: 1)
    }

    deinit {
        registers.deallocate()
        gathered.deallocate()
        pieces.deallocate()
    }

    /// Description of the chip.
    func description(testsItself: Bool = false) -> any IMUChip {
        switch kind {
        case .bmi088: BMI088(gyroRange: 2000, accelRange: 24, testsItself: testsItself)
        case .mpu6050: MPU6050(gyroRange: 2000, accelRange: 16, testsItself: testsItself)
        case .mpu6500, .mpu9250:
            MPU6500(
                gyroRange: 2000, accelRange: 16, testsItself: testsItself,
                hasMagnetometer: kind == .mpu9250)
        case .icm42688p: ICM42688P(gyroRange: 2000, accelRange: 16, testsItself: testsItself)
        case .icm20948: ICM20948(gyroRange: 2000, accelRange: 16, testsItself: testsItself)
        }
    }

    subscript(part: Int, register: UInt8) -> UInt8 {
        get { registers[256 * part + Int(register)] }
        set { registers[256 * part + Int(register)] = newValue }
    }

    /// Sets the registers to their values after power-up.
    func reset(part: Int) {
        if part == 0 { (collected, removed, magnetometerMode) = (0..<0, 0, 0) }
        (registers + 256 * part).update(repeating: 0, count: 256)
        switch (kind, part) {
        case (.bmi088, 0):
            self[0, 0x00] = 0x1E
            self[0, 0x40] = 0xA8
            self[0, 0x41] = 0x01
            self[0, 0x7C] = 0x03
        case (.bmi088, 1):
            self[1, 0x00] = 0x0F
            self[1, 0x10] = 0x80
        case (.mpu6050, 0):
            self[0, 0x75] = 0x68
            self[0, 0x6B] = 0x40
        case (.mpu6500, 0), (.mpu9250, 0):
            self[0, 0x75] = kind == .mpu6500 ? 0x70 : 0x71
            self[0, 0x6B] = 0x01
        case (.icm42688p, 0):
            self[0, 0x75] = 0x47
            self[0, 0x4D] = 0x91
            self[0, 0x4F] = 0x06
            self[0, 0x50] = 0x06
        case (.icm20948, 0):
            bank = 0
            registers.update(repeating: 0, count: 512)
            self[0, 0x00] = 0xEA
            self[0, 0x05] = 0x40
            self[0, 0x06] = 0x41
        default: break
        }
    }

    private var measures: Bool {
        switch kind {
        case .bmi088: self[0, 0x7D] == 0x04 && self[0, 0x7C] == 0
        case .icm42688p: self[0, 0x4E] == 0x0F
        case .icm20948: self[0, 0x06] == 0x01 && self[0, 0x11] == 0x01
        case .mpu6050, .mpu6500, .mpu9250: self[0, 0x6B] == 0x01 && self[0, 0x38] == 0x01
        }
    }

    /// Puts the sample of the present millisecond into the registers, if it is new.
    private func measure() {
        let number = Int(now.nanoseconds / 1_000_000)
        if isFrozen { wasFrozen = true }
        guard measures, !isFrozen, number != shown else { return }
        collect(number)
        shown = number
        let (low, high) = (Int16(number % 10000), Int16(number / 10000))
        switch kind {
        case .bmi088:
            put(0, little: true, part: 0, at: 0x12)
            put(-1365, little: true, part: 0, at: 0x16)
            for index in 0..<3 {
                self[0, 0x18 + UInt8(index)] = UInt8(number >> (8 * index) & 0xFF)
            }
            put(low, little: true, part: 1, at: 0x02)
            put(high, little: true, part: 1, at: 0x04)
        case .mpu6050, .mpu6500, .mpu9250:
            self[0, 0x3A] |= 0x01
            put(-2048, part: 0, at: 0x3F)
            put(low, part: 0, at: 0x43)
            put(high, part: 0, at: 0x45)
        case .icm42688p:
            self[0, 0x2D] |= 0x08
            put(-2048, part: 0, at: 0x23)
            put(low, part: 0, at: 0x25)
            put(high, part: 0, at: 0x27)
        case .icm20948:
            self[0, 0x1A] |= 0x01
            put(-2048, part: 0, at: 0x31)
            put(low, part: 0, at: 0x33)
            put(high, part: 0, at: 0x35)
        }
    }

    private var collects: Bool {
        kind == .icm42688p
            ? self[0, 0x16] == 0x40 && self[0, 0x5F] == 0x07
            : self[0, 0x23] == 0xF8 && self[0, 0x6A] & 0x40 != 0
    }

    /// Adds a sample to the buffer. A full buffer loses its oldest sample.
    private func collect(_ number: Int) {
        guard collects else { return }
        let room =
            cached + (kind == .icm42688p ? 2048 / 16 : (kind == .mpu6050 ? 1024 : 512) / 14)
        if wasFrozen { collected = number..<number }
        wasFrozen = false
        let first = collected.upperBound == 0 ? number : collected.lowerBound
        collected = max(first, number + 1 - room)..<(number + 1)
        showLevel()
    }

    private var packet: Int { kind == .icm42688p ? 16 : 14 }

    /// Puts the number of bytes in the buffer into its registers.
    private func showLevel() {
        let bytes = collected.count * packet - removed
        let level: UInt8 = kind == .icm42688p ? 0x2E : 0x72
        self[0, level] = UInt8(bytes >> 8)
        self[0, level + 1] = UInt8(bytes & 0xFF)
    }

    /// Removes bytes from the buffer, oldest first; the last packet can remain incomplete.
    private func drop(bytes: Int) {
        let (packets, rest) = (removed + bytes).quotientAndRemainder(dividingBy: packet)
        collected = (collected.lowerBound + packets)..<collected.upperBound
        removed = rest
        showLevel()
    }

    private func empty() {
        collected = collected.upperBound..<collected.upperBound
        removed = 0
        showLevel()
    }

    private func put(_ value: Int16, little: Bool = false, part: Int, at register: UInt8) {
        let bits = UInt16(bitPattern: value)
        self[part, register + (little ? 0 : 1)] = UInt8(bits & 0xFF)
        self[part, register + (little ? 1 : 0)] = UInt8(bits >> 8)
    }

    private func look(_ part: Int, _ register: UInt8) -> UInt8 {
        if let constant { return constant }
        if kind == .icm20948 { return banked(register) }
        let identity: UInt8 = kind == .bmi088 ? 0x00 : 0x75
        if hasWrongIdentity, register == identity { return 0x11 }
        if kind == .mpu9250, register == 0x35 { return answer }
        if kind == .mpu6050, (0x0D...0x10).contains(register) { return trim }
        if kind == .icm42688p, bank != 0 { return 0 }
        let value = self[part, register]
        let isStatus = kind == .icm42688p ? register == 0x2D : register == 0x3A
        if kind != .bmi088, isStatus { self[part, register] = 0 }
        return value
    }

    /// Value of a register of an ICM-20948, which has four banks of 128 registers.
    private func banked(_ register: UInt8) -> UInt8 {
        if register == 0x7F { return UInt8(bank << 4) }
        if bank == 0, register == 0x00, hasWrongIdentity { return 0x11 }
        if bank == 3, register == 0x17 { return answer }
        let index = 128 * bank + Int(register)
        let value = registers[index]
        if bank == 0, register == 0x1A { registers[index] = 0 }
        return value
    }

    /// First register of slave 4 of the chip's I2C master (address, register, output, control for
    /// an MPU-9250; address, register, control, output for an ICM-20948).
    private var slave: Int { kind == .icm20948 ? 3 * 128 + 0x13 : 0x31 }

    /// Answer of the magnetometer to a read through the chip's I2C master.
    private var answer: UInt8 {
        guard hasMagnetometer else { return 0 }
        switch (kind, registers[slave + 1]) {
        case (.icm20948, 0x31), (.mpu9250, 0x0A): return magnetometerMode
        case (.icm20948, 0x01): return 0x09
        case (.mpu9250, 0x00): return 0x48
        default: return 0x80
        }
    }

    /// Executes a write to the magnetometer's mode through the chip's I2C master.
    private func setMode() {
        let (mode, output) = kind == .icm20948 ? (0x31, 3) : (0x0A, 2)
        guard hasMagnetometer, registers[slave] == 0x0C, registers[slave + 1] == mode else {
            return
        }
        if lostModes > 0 { return lostModes -= 1 }
        magnetometerMode = registers[slave + output]
    }

    private func begin(isWrite: Bool = false) throws(BusErrno) {
        transfers += 1
        measure()
        if isWrite, let rest = writesBeforeFailure {
            writesBeforeFailure = rest > 0 ? rest - 1 : nil
            if rest == 0 { throw BusErrno(code: EIO) }
        }
        if failing != 0, !(isWrite && takesWrites) { throw BusErrno(code: failing) }
    }

    // MARK: ChipLink

    func place(of part: Int) -> UInt16 { UInt16(0x68 + part) }
    var device: BusError.Device { .i2c }

    func write(_ value: UInt8, to register: UInt8, part: Int) throws(BusErrno) {
        try begin(isWrite: true)
        switch (kind, register) {
        case (.bmi088, 0x7E) where part == 0 && value == 0xB6: reset(part: 0)
        case (.bmi088, 0x14) where part == 1 && value == 0xB6: reset(part: 1)
        case (.mpu6050, 0x6B) where value & 0x80 != 0, (.mpu6500, 0x6B) where value & 0x80 != 0,
            (.mpu9250, 0x6B) where value & 0x80 != 0, (.icm42688p, 0x11) where value & 1 != 0,
            (.icm20948, 0x06) where value & 0x80 != 0:
            reset(part: 0)
        case (.icm20948, 0x7F): bank = Int(value >> 4)
        case (.icm20948, _):
            registers[128 * bank + Int(register)] = value
            if bank == 3, register == 0x15, value & 0x80 != 0 { setMode() }
        case (.icm42688p, 0x76): bank = Int(value)
        case (.icm42688p, 0x4B): if !keepsBuffer { empty() }
        case (.mpu6050, 0x6A) where value & 0x04 != 0, (.mpu6500, 0x6A) where value & 0x04 != 0:
            // The FIFO is emptied only while FIFO_EN is 0.
            if !keepsBuffer, (self[0, 0x6A] | value) & 0x40 == 0 { empty() }
            self[0, 0x6A] = value & 0xFB
        case (.mpu9250, 0x34):
            self[0, register] = value
            if value & 0x80 != 0 { setMode() }
        default: self[part, register] = value
        }
    }

    func read(_ register: UInt8, count: Int, part: Int) throws(BusErrno) -> UInt64 {
        try begin()
        var word: UInt64 = 0
        for index in 0..<count {
            word |= UInt64(look(part, register &+ UInt8(index))) << (8 * UInt64(index))
        }
        if damagedReads > 0, count == 1 {
            damagedReads -= 1
            word ^= 0x10
        }
        return word
    }

    func stream(_ register: UInt8, count: Int) throws(BusErrno) -> UnsafeRawBufferPointer {
        try begin()
        if let bytes = bytesBeforeFailure {
            bytesBeforeFailure = nil
            drop(bytes: bytes)
            throw BusErrno(code: ETIMEDOUT)
        }
        let isICM = kind == .icm42688p
        let packets = (removed + count + packet - 1) / packet
        for index in 0..<packets * packet { gathered[index] = 0 }
        for index in 0..<packets {
            let number = collected.lowerBound + index
            let at = index * packet
            if isICM { gathered[at] = 0x68 }
            set(-2048, at: at + (isICM ? 5 : 4))
            set(Int16(number % 10000), at: at + (isICM ? 7 : 8))
            set(Int16(number / 10000), at: at + (isICM ? 9 : 10))
        }
        let first = removed
        drop(bytes: count)
        return UnsafeRawBufferPointer(rebasing: gathered[first..<first + count])
    }

    private func set(_ value: Int16, at index: Int) {
        let bits = UInt16(bitPattern: value)
        gathered[index] = UInt8(bits >> 8)
        gathered[index + 1] = UInt8(bits & 0xFF)
    }

    func prepare(_ reads: [RegisterRead]) {
        pieceCount = reads.count
        for (index, read) in reads.enumerated() { (pieces + index).initialize(to: read) }
    }

    func burst() throws(BusErrno) -> UnsafeRawBufferPointer {
        try begin()
        var at = 0
        for piece in 0..<pieceCount {
            let read = pieces[piece]
            for index in 0..<read.count {
                gathered[at] = look(read.part, read.register &+ UInt8(index))
                at += 1
            }
        }
        return UnsafeRawBufferPointer(rebasing: gathered[0..<at])
    }
}

extension IMUSample {
    /// Number of the sample that a `FakeChip` has put into the rates.
    var number: Int {
        // The scale is 2000 deg/s at 32768, or at 32767 for a BMI088; both round to the same
        // number.
        func counts(_ rate: Double) -> Int { Int((rate * 180 / .pi / 2000 * 32768).rounded()) }
        return counts(gyro.x) + 10000 * counts(gyro.y)
    }
}
