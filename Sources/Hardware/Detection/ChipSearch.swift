internal import enum Configuration.SensorChip
internal import Glibc

// How the search keeps a running gimbal safe:
//
// - The search only reads. On I2C, the search writes a register pointer and reads one byte in one
//   transfer (I2C_RDWR), so that no other thread's transfer can come between.
// - The search reads a bus only while the motors are off, and checks this before every transfer. A
//   transfer delays the bus thread by at most 1 ms at a bus clock of 100 kHz. While the motors are
//   off, the only effect of this delay is a late sample. The bus in use must also be searched,
//   because a wrong setting is most likely on this bus.
// - The search skips an address that a kernel driver uses.
// - On SPI, some chips (such as LoRa transceivers) treat the first bit of a read as a write. Therefore
//   the search reads SPI devices only if the user requests it.

/// Search for known chips on one bus.
struct ChipSearch {
    /// Function that returns false as soon as the search must not use a bus.
    var mayRead: () -> Bool
    /// Function that waits between two transfers, so that the bus thread can use the bus.
    var rest: () -> Void = { usleep(2000) }

    /// Message if a search has ended because the motors were on.
    static let motorsOn =
        "The motors are on: search while they are off (airframectl mode inactive)."

    /// Addresses that a PCA9685 has with its three lowest address pins. The chip supports more
    /// addresses, but chips of other manufacturers also use those addresses.
    static let driverAddresses: ClosedRange<UInt16> = 0x40...0x47
    /// Addresses of the inertial sensors.
    private static let sensorAddresses: [UInt16] = [0x18, 0x19, 0x68, 0x69]

    /// Searches the addresses of known chips on an I2C bus.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - reserved: Addresses with a driver in the kernel.
    /// - Returns: The chips that have answered, and the reason why the search is incomplete; nil
    ///   after a complete search.
    func search(_ bus: I2CBus, reserved: Set<UInt16> = []) -> (
        chips: [HardwareReport.Chip], problem: String?
    ) {
        var reader = Reader(bus: bus, reserved: reserved, search: self)
        var chips = SensorChip.allCases.flatMap { sensors($0, &reader) }
        if isEncoder(&reader) {
            chips.append(.init(name: "as5600", addresses: [Int(AS5600.address)], isCertain: false))
        }
        for address in Self.driverAddresses where isDriver(address, &reader) {
            chips.append(.init(name: "pca9685", addresses: [Int(address)], isCertain: false))
        }
        let known = Set(chips.flatMap(\.addresses))
        for address in reader.answered.sorted() where !known.contains(Int(address)) {
            chips.append(
                .init(
                    name: HardwareReport.Chip.unknown, addresses: [Int(address)], isCertain: false))
        }
        return (chips, reader.problem)
    }

    /// The sensors of one type that have answered.
    private func sensors(_ chip: SensorChip, _ reader: inout Reader) -> [HardwareReport.Chip] {
        let identity = SensorWiring.Inertial.description(of: chip).identity
        var found: [HardwareReport.Chip] = []
        for address in Self.sensorAddresses where answers(identity, 0, address, &reader) {
            if identity.allSatisfy({ $0.part == 0 }) {
                found.append(
                    .init(name: chip.rawValue, addresses: [Int(address)], isCertain: true))
                continue
            }
            // The address pins of gyroscope and accelerometer can have equal or opposite levels;
            // the address for equal levels is tried first.
            let used = found.flatMap(\.addresses)
            let second = [0x68 + address % 2, 0x69 - address % 2].first {
                !used.contains(Int($0)) && answers(identity, 1, $0, &reader)
            }
            guard let second else { continue }
            found.append(
                .init(
                    name: chip.rawValue, addresses: [Int(address), Int(second)], isCertain: true))
        }
        return found
    }

    private func answers(
        _ identity: [ChipIdentity], _ part: Int, _ address: UInt16, _ reader: inout Reader
    ) -> Bool {
        identity.filter { $0.part == part }.allSatisfy { check in
            reader.read(check.register, at: address).map(check.matches) ?? false
        }
    }

    /// True if the registers are those of an AS5600, which has no identity register: the unused
    /// bits of ZMCO, STATUS, RAW ANGLE and ANGLE read as 0 (data sheet AS5600 v1-06, figure 21).
    private func isEncoder(_ reader: inout Reader) -> Bool {
        let unused: [(register: UInt8, mask: UInt8)] = [
            (0x00, 0xFC), (0x0B, 0xC7), (0x0C, 0xF0), (0x0E, 0xF0),
        ]
        return unused.allSatisfy { check in
            reader.read(check.register, at: AS5600.address).map { $0 & check.mask == 0 } ?? false
        }
    }

    /// True if the registers SUBADR1 to ALLCALLADR contain the values after a reset of a PCA9685,
    /// which has no identity register (data sheet PCA9685 revision 4, table 4).
    private func isDriver(_ address: UInt16, _ reader: inout Reader) -> Bool {
        let reset: [(register: UInt8, value: UInt8)] = [
            (0x02, 0xE2), (0x03, 0xE4), (0x04, 0xE8), (0x05, 0xE0),
        ]
        return reset.allSatisfy { reader.read($0.register, at: address) == $0.value }
    }

    /// Searches for a known chip at an SPI device. A read transfers the register number with bit 7
    /// set, then one byte or two bytes.
    ///
    /// - Returns: The chip, or nil if no known chip has answered; and the reason why the search is
    ///   incomplete.
    func search(_ device: SPIDevice) -> (chip: HardwareReport.Chip?, problem: String?) {
        for chip in SensorChip.allCases where chip != .mpu6050 {
            for check in SensorWiring.Inertial.description(of: chip, isOnSPI: true).identity {
                guard mayRead() else { return (nil, Self.motorsOn) }
                let isAccelerometer = chip == .bmi088 && check.part == 0
                let link = SPIChipLink(
                    parts: [.init(device: device, dummies: isAccelerometer ? 1 : 0)],
                    clock: 1_000_000)
                do {
                    // The first read wakes the SPI interface of a BMI088's accelerometer.
                    if isAccelerometer { _ = try link.read(check.register, count: 1, part: 0) }
                    let value = try link.read(check.register, count: 1, part: 0)
                    rest()
                    guard check.matches(UInt8(truncatingIfNeeded: value)) else { continue }
                } catch {
                    return (nil, Self.words(error))
                }
                let name = chip != .bmi088 ? "" : isAccelerometer ? "_accel" : "_gyro"
                return (.init(name: chip.rawValue + name, isCertain: true), nil)
            }
        }
        return (nil, nil)
    }

    /// Message about a bus error, with the remedy.
    static func words(_ error: BusErrno) -> String {
        switch error.code {
        case ENOENT, ENODEV: "The device file is missing: load the module i2c-dev or spidev."
        case EACCES, EPERM: "Access is not permitted: add the user to the group of the device file."
        case EOPNOTSUPP:
            "The adapter does not support a write and a read in one transfer, so sensors cannot use it."
        case EBUSY:
            "The bus is in use. If airframed uses it, pass the path of airframed's socket (diagnostics.socket): --socket PATH."
        case ETIMEDOUT: "The bus is stuck: check the wires and the pull-ups."
        default: "A transfer failed: \(String(cString: strerror(error.code)))."
        }
    }

    /// Reads of single registers, each at most once.
    private struct Reader {
        let bus: I2CBus
        let reserved: Set<UInt16>
        let search: ChipSearch
        /// Addresses at which a chip has answered.
        var answered: Set<UInt16> = []
        var problem: String?
        private var absent: Set<UInt16> = []
        private var values: [UInt16: [UInt8: UInt8]] = [:]

        init(bus: I2CBus, reserved: Set<UInt16>, search: ChipSearch) {
            self.bus = bus
            self.reserved = reserved
            self.search = search
        }

        /// Value of a register; nil if no chip answers, or the search has ended.
        mutating func read(_ register: UInt8, at address: UInt16) -> UInt8? {
            if let known = values[address]?[register] { return known }
            guard problem == nil, !reserved.contains(address), !absent.contains(address) else {
                return nil
            }
            guard search.mayRead() else {
                problem = ChipSearch.motorsOn
                return nil
            }
            do {
                let link = I2CChipLink(bus: bus, addresses: [address])
                let value = UInt8(
                    truncatingIfNeeded: try link.read(register, count: 1, part: 0))
                search.rest()
                values[address, default: [:]][register] = value
                answered.insert(address)
                return value
            } catch {
                // Adapters report a missing acknowledge with one of these errors (Linux,
                // Documentation/i2c/fault-codes.rst).
                if [ENXIO, EREMOTEIO, EIO].contains(error.code) {
                    absent.insert(address)
                } else {
                    problem = ChipSearch.words(error)
                }
                return nil
            }
        }
    }
}
