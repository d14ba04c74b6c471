package import GimbalCore

/// Quantity of a channel that airframed uses.
package enum IIOQuantity: String, Sendable, CaseIterable {
    /// Angular rate, rad/s after scaling.
    case gyroscope = "anglvel"
    /// Specific force, m/s² after scaling.
    case accelerometer = "accel"
    /// Magnetic field, gauss after scaling.
    case magnetometer = "magn"

    /// Index of the quantity among all quantities, 0...2.
    var number: Int {
        switch self {
        case .gyroscope: 0
        case .accelerometer: 1
        case .magnetometer: 2
        }
    }

    /// Factor from the kernel's unit to the unit of `IMUSample`: 1 gauss is 100 µT.
    var toSample: Double { number == 2 ? 100 : 1 }
}

/// One channel of an IIO device's buffer.
package struct IIOChannel: Sendable, Equatable {
    /// Meaning of a channel.
    package enum Meaning: Sendable, Equatable {
        /// Channel of one axis of a quantity: 0 for x, 1 for y, 2 for z.
        case axis(IIOQuantity, Int)
        /// Temperature, thousandths of a degree Celsius after scaling.
        case temperature
        /// Time of the measurement, ns.
        case timestamp
        /// Any other channel.
        case other
    }

    /// Measured quantity or other content of the channel.
    package var meaning: Meaning
    /// Index that determines the order of the channels in a scan.
    package var index: Int
    /// Storage format of the channel.
    package var format: IIOFormat

    /// Creates a channel.
    package init(meaning: Meaning, index: Int, format: IIOFormat) {
        self.meaning = meaning
        self.index = index
        self.format = format
    }

    /// Content of a channel, derived from the channel's name in `scan_elements`, such as
    /// `in_anglvel_x`.
    package static func meaning(of name: some StringProtocol) -> Meaning {
        switch name {
        case "in_timestamp": return .timestamp
        case "in_temp", "in_temp0": return .temperature
        default: break
        }
        for quantity in IIOQuantity.allCases {
            for (index, axis) in ["x", "y", "z"].enumerated()
            where name == "in_\(quantity.rawValue)_\(axis)" { return .axis(quantity, index) }
        }
        return .other
    }
}

/// Rotation from a sensor's axes to the axes of the board, from a `mount_matrix` file (kernel:
/// Documentation/ABI/testing/sysfs-bus-iio).
package struct IIOMountMatrix: Sendable, Equatable {
    /// Rows of the matrix.
    var rows: (Vector3, Vector3, Vector3)

    /// Rotation of a sensor whose axes are the board's axes (identity).
    static let identity = IIOMountMatrix(
        rows: (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)))

    /// Tolerance of the scalar product of two rows, relative to the value in an exact rotation
    /// matrix.
    private static let tolerance = 0.02

    private init(rows: (Vector3, Vector3, Vector3)) { self.rows = rows }

    /// Parses a matrix such as `0, 1, 0; 1, 0, 0; 0, 0, -1`; nil if the matrix is not a rotation.
    package init?(_ text: some StringProtocol) {
        let numbers = text.split { $0 == "," || $0 == ";" || $0.isWhitespace }.map { Double($0) }
        let values = numbers.compactMap(\.self)
        guard numbers.count == 9, values.count == 9, values.allSatisfy({ abs($0) <= 1.01 })
        else { return nil }
        let (x, y, z) = (
            Vector3(values[0], values[1], values[2]), Vector3(values[3], values[4], values[5]),
            Vector3(values[6], values[7], values[8])
        )
        let deviations = [
            x.dot(x) - 1, y.dot(y) - 1, z.dot(z) - 1, x.dot(y), y.dot(z), z.dot(x),
            x.cross(y).dot(z) - 1,
        ]
        guard deviations.allSatisfy({ abs($0) <= Self.tolerance }) else { return nil }
        rows = (x, y, z)
    }

    /// Rotates a vector from the sensor's axes to the board's axes.
    package func rotate(_ v: Vector3) -> Vector3 {
        Vector3(rows.0.dot(v), rows.1.dot(v), rows.2.dot(v))
    }

    /// True if two matrices are equal.
    package static func == (a: IIOMountMatrix, b: IIOMountMatrix) -> Bool { a.rows == b.rows }
}

/// Conversion of a quantity's raw values: `(raw + offset) · scale`, then the mount matrix, then the
/// limit.
struct IIOConversion: Sendable, Equatable {
    /// Scale of each axis, in the kernel's unit per count.
    var scale = Vector3(1, 1, 1)
    /// Offset of each axis, counts.
    var offset = Vector3.zero
    /// Rotation from the sensor's axes to the board's axes.
    var mounting = IIOMountMatrix.identity
    /// Largest magnitude of each axis, in the kernel's unit. A larger value becomes this value. A
    /// driver's full scale can exceed the configured range, above which the loop rejects samples as
    /// implausible. At the limit, the loop reports a saturated sensor instead.
    var limit = Double.infinity

    /// Convert a raw vector.
    func converted(_ raw: Vector3) -> Vector3 {
        let vector = mounting.rotate(
            Vector3(
                (raw.x + offset.x) * scale.x, (raw.y + offset.y) * scale.y,
                (raw.z + offset.z) * scale.z))
        return Vector3(limited(vector.x), limited(vector.y), limited(vector.z))
    }

    private func limited(_ value: Double) -> Double { min(max(value, -limit), limit) }
}

/// Values of one scan, in the units of `IMUSample`. Quantities that the device does not measure are
/// nil.
package struct IIOScan: Sendable {
    /// Time of the measurement on the device's clock.
    var time = Instant(nanoseconds: 0)
    /// Angular rate, rad/s.
    var gyro: Vector3?
    /// Specific force, m/s².
    var accel: Vector3?
    /// Magnetic field, µT.
    var magneticField: Vector3?
    /// Temperature, °C.
    var temperature: Double?

    /// The vector of a quantity; nil if the scan does not contain the quantity.
    package subscript(quantity: IIOQuantity) -> Vector3? {
        get {
            switch quantity {
            case .gyroscope: gyro
            case .accelerometer: accel
            case .magnetometer: magneticField
            }
        }
        set {
            switch quantity {
            case .gyroscope: gyro = newValue
            case .accelerometer: accel = newValue
            case .magnetometer: magneticField = newValue
            }
        }
    }
}

/// Decoder of the scans in the buffer of one IIO device. Decoding allocates no memory.
package struct IIODecoder: Sendable {
    /// Channel that the decoder uses.
    private struct Place: Sendable {
        var format: IIOFormat
        /// Position of the channel in the scan, bytes.
        var offset: Int
        /// Index of the channel in the decoded values: three values for each quantity, then the
        /// temperature.
        var slot: Int
    }

    /// Size of one scan, bytes.
    package let scanBytes: Int
    /// Quantities whose three axes are all in the buffer.
    package let quantities: [IIOQuantity]
    private let places: [Place]
    private let timestamp: Place?
    private let hasTemperature: Bool
    /// Conversion of each quantity, in the order of `IIOQuantity`.
    private var conversions = [IIOConversion](repeating: IIOConversion(), count: 3)
    /// Scale and offset of the temperature channel.
    var temperature = (scale: 1.0, offset: 0.0)

    /// Largest size of a scan that this decoder accepts, bytes.
    package static let mostBytes = 256
    private static let temperatureSlot = 9

    /// Creates the decoder of the enabled channels. A channel is aligned to its own size, and a scan
    /// to its largest channel (kernel: `iio_compute_scan_bytes`).
    ///
    /// - Returns: nil if two channels have the same index, if a scan is empty, or if a scan is
    ///   larger than 256 bytes.
    package init?(_ channels: [IIOChannel]) {
        var offset = 0
        var largest = 1
        var last: Int?
        var places: [Place] = []
        var timestamp: Place?
        func align(_ size: Int) { offset = (offset + size - 1) / size * size }
        let meanings = channels.map(\.meaning)
        let quantities = IIOQuantity.allCases.filter { quantity in
            (0..<3).allSatisfy { axis in meanings.contains(.axis(quantity, axis)) }
        }
        for channel in channels.sorted(by: { $0.index < $1.index }) {
            guard last != channel.index else { return nil }
            last = channel.index
            align(channel.format.bytes)
            var place = Place(format: channel.format, offset: offset, slot: 0)
            switch channel.meaning {
            case .axis(let quantity, let axis) where quantities.contains(quantity):
                place.slot = 3 * quantity.number + axis
                places.append(place)
            case .temperature:
                place.slot = Self.temperatureSlot
                places.append(place)
            case .timestamp: timestamp = place
            case .axis, .other: break
            }
            offset += channel.format.bytes
            largest = max(largest, channel.format.bytes)
            guard offset <= Self.mostBytes else { return nil }
        }
        align(largest)
        guard !channels.isEmpty, offset <= Self.mostBytes else { return nil }
        scanBytes = offset
        self.quantities = quantities
        self.places = places
        self.timestamp = timestamp
        hasTemperature = places.contains { $0.slot == Self.temperatureSlot }
    }

    /// True if each scan contains a time stamp.
    var hasTimestamp: Bool { timestamp != nil }

    /// Conversion of a quantity.
    subscript(quantity: IIOQuantity) -> IIOConversion {
        get { conversions[quantity.number] }
        set { conversions[quantity.number] = newValue }
    }

    /// Decode one scan.
    ///
    /// - Parameter bytes: At least `scanBytes` bytes.
    /// - Returns: The values of the scan; nil if there are too few bytes.
    package func scan(_ bytes: UnsafeRawBufferPointer) -> IIOScan? {
        guard bytes.count >= scanBytes else { return nil }
        var counts = InlineArray<10, Double>(repeating: 0)
        for index in 0..<places.count {
            let place = places[index]
            counts[place.slot] = Double(place.format.value(in: bytes, at: place.offset))
        }
        var scan = IIOScan()
        if let timestamp {
            scan.time = Instant(
                nanoseconds: timestamp.format.value(in: bytes, at: timestamp.offset))
        }
        if hasTemperature {
            scan.temperature =
                (counts[Self.temperatureSlot] + temperature.offset) * temperature.scale / 1000
        }
        for index in 0..<quantities.count {
            let quantity = quantities[index]
            let (first, conversion) = (3 * quantity.number, conversions[quantity.number])
            let raw = Vector3(counts[first], counts[first + 1], counts[first + 2])
            scan[quantity] = conversion.converted(raw) * quantity.toSample
        }
        return scan
    }
}
