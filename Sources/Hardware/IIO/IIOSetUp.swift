internal import Glibc
internal import GimbalCore

/// Requirements for an IIO device, from the settings.
public struct IIORequest: Sendable, Equatable {
    /// Sampling frequency, Hz.
    public var rate = 1000.0
    /// Corner frequency of the low-pass filter, Hz; nil leaves the driver's value unchanged.
    public var lowPass: Double?
    /// Full scale of the gyroscope, deg/s.
    public var gyroRange = 2000.0
    /// Full scale of the accelerometer, g.
    public var accelRange = 16.0
    /// Name of the trigger of the gyroscope's device, and of devices without a trigger of their own;
    /// nil selects the device's own trigger.
    public var trigger: String?

    /// Creates the requirements for a sensor from its settings.
    public init() {}
}

/// Reason why an IIO device cannot be set up.
enum IIOFailure: Error, Equatable {
    /// The device lacks a required property, which the text describes.
    case device(StaticString)
    /// The driver's attribute file could not be read or written.
    case file(BusErrno)

    /// True if two failures have the same text or error number.
    static func == (a: IIOFailure, b: IIOFailure) -> Bool {
        switch (a, b) {
        case (.device(let x), .device(let y)): x.utf8Start == y.utf8Start
        case (.file(let x), .file(let y)): x.code == y.code
        default: false
        }
    }
}

/// Settings that a sensor's driver in the kernel cannot use.
struct IIOIgnored: OptionSet, Sendable {
    let rawValue: UInt

    /// `hardware.iio.low_pass_hz`: the driver has no attribute for the low-pass filter.
    static let lowPass = IIOIgnored(rawValue: 1)
    /// `hardware.iio.trigger`: the driver does not use triggers.
    static let trigger = IIOIgnored(rawValue: 2)

    /// Keys of the settings.
    var keys: [String] {
        (contains(.lowPass) ? ["hardware.iio.low_pass_hz"] : [])
            + (contains(.trigger) ? ["hardware.iio.trigger"] : [])
    }
}

/// Set-up of one IIO device. Between two steps of the set-up, the bus thread can service the
/// motors. Each step reads or writes a few files of the kernel's driver.
struct IIOSetUp {
    private enum Step: Int { case stop, clock, ranges, rate, trigger, channels, start }

    /// Capacity of the buffer, scans: several times the number of scans in a control period.
    static let length = 128
    private static let gravity = 9.80665
    /// Limit of the readings as a fraction of the configured range: slightly below 1, so that rounding
    /// errors cannot move a saturated reading beyond the range. The loop counts readings above 98 %
    /// of the range as saturated.
    private static let limitShare = 0.999

    /// Smallest scale with a sufficient number of digits. The kernel writes at most nine decimals, and
    /// omits the others (drivers/iio/industrialio-core.c, `__iio_format_value`), so a scale can be up
    /// to 1e-9 larger than its text: at this limit 4 %, about the tolerance of a MEMS gyroscope. An
    /// ADIS16475-1 has the scale 1.66e-9, and the text 0.000000001.
    private static let smallestScale = 2.5e-8

    private let tree: IIOTree
    private let device: IIODevice
    private let wanted: [IIOQuantity]
    private let request: IIORequest
    private var next = Step.stop
    private var decoder: IIODecoder?
    private var conversions: [(IIOQuantity, IIOConversion)] = []
    /// Interval of the samples, s.
    private(set) var period = 0.001
    /// Settings that the driver of the gyroscope cannot use.
    private(set) var ignored: IIOIgnored = []

    /// Creates the set-up of a device.
    ///
    /// - Parameters:
    ///   - tree: The kernel's folders.
    ///   - device: The device.
    ///   - wanted: Quantities to be enabled.
    ///   - request: Requirements from the settings.
    init(_ tree: IIOTree, _ device: IIODevice, wanted: [IIOQuantity], request: IIORequest) {
        self.tree = tree
        self.device = device
        self.wanted = wanted
        self.request = request
        period = 1 / request.rate
    }

    /// Executes the next step.
    ///
    /// - Returns: The decoder of the enabled buffer; nil until the last step has been executed.
    mutating func advance() throws(IIOFailure) -> IIODecoder? {
        switch next {
        case .stop: try stop()
        case .clock: try setClock()
        case .ranges: try setRanges()
        case .rate: try setRate()
        case .trigger: try setTrigger()
        case .channels: try enableChannels()
        case .start: return try start()
        }
        next = Step(rawValue: next.rawValue + 1) ?? .start
        return nil
    }

    private func write(_ text: String, _ name: String, in folder: KernelFolder) throws(IIOFailure) {
        do throws(BusErrno) { try folder.write(text, to: name) } catch { throw .file(error) }
    }

    private func stop() throws(IIOFailure) {
        guard device.buffer.has("enable"), !device.channels.isEmpty else {
            throw .device("has no buffer: its kernel driver does not support buffers")
        }
        guard !device.hasUnreadableChannel else {
            throw .device("has a channel of unknown format (scan element type)")
        }
        guard device.hasTimestamp else { throw .device("has no time stamps in its buffer") }
        if device.buffer.text("enable") != "0" { try write("0", "enable", in: device.buffer) }
    }

    private func setClock() throws(IIOFailure) {
        let name = "current_timestamp_clock"
        if device.folder.text(name) == "monotonic" { return }
        try write("monotonic", name, in: device.folder)
        guard device.folder.text(name) == "monotonic" else {
            throw .device("cannot stamp its samples with the monotonic clock")
        }
    }

    /// Sets the smallest sufficient range of each quantity, and the conversion of its raw values.
    private mutating func setRanges() throws(IIOFailure) {
        for quantity in wanted {
            guard let channel = device.channels.first(where: { $0.meaning == .axis(quantity, 0) })
            else { throw .device("has no buffer for a required channel") }
            let conversion = try conversion(of: quantity, largest: channel.format.largest)
            conversions.append((quantity, conversion))
        }
    }

    private func conversion(
        of quantity: IIOQuantity, largest: Double
    ) throws(IIOFailure) -> IIOConversion {
        let range: Double? =
            switch quantity {
            case .gyroscope: request.gyroRange * .pi / 180
            case .accelerometer: request.accelRange * Self.gravity
            case .magnetometer: nil
            }
        let shared = "in_\(quantity.rawValue)_scale"
        if let range, let choices = device.folder.choices(shared), device.folder.has(shared) {
            try write(choices.atLeast(range / largest), shared, in: device.folder)
        }
        let scale = try vector(quantity, "scale", missing: nil)
        let smallest = min(abs(scale.x), abs(scale.y), abs(scale.z))
        guard smallest > 0 else { throw .device("has a scale of 0") }
        guard smallest >= Self.smallestScale else {
            throw .device("has a scale that the kernel rounds to too few digits")
        }
        if let range, smallest * largest < 0.98 * range {
            throw quantity == .gyroscope
                ? .device("has a smaller range than imu.gyro_range_dps: lower this setting")
                : .device("has a smaller range than imu.accel_range_g: lower this setting")
        }
        var result = IIOConversion(
            scale: scale, offset: try vector(quantity, "offset", missing: 0))
        if let range { result.limit = Self.limitShare * range }
        if let name = device.attribute(quantity, "mount_matrix"),
            let text = device.folder.text(name)
        {
            guard let matrix = IIOMountMatrix(text) else {
                throw .device("has a mount matrix that is not a rotation")
            }
            result.mounting = matrix
        }
        return result
    }

    /// The value of an attribute for each axis, from the file of this axis or from a file for all
    /// three axes.
    private func vector(
        _ quantity: IIOQuantity, _ name: String, missing: Double?
    ) throws(IIOFailure) -> Vector3 {
        var values: [Double] = []
        for axis in ["x", "y", "z"] {
            let own = "in_\(quantity.rawValue)_\(axis)_\(name)"
            let file = device.folder.has(own) ? own : "in_\(quantity.rawValue)_\(name)"
            guard
                let value = device.folder.number(file) ?? (device.folder.has(file) ? nil : missing)
            else { throw .device("has an unreadable scale or offset") }
            values.append(value)
        }
        return Vector3(values[0], values[1], values[2])
    }

    /// Sets the sampling frequency and the low-pass filter of each quantity.
    ///
    /// In some chips, one register determines both (kernel: drivers/iio/gyro/bmg160_core.c), so that
    /// each write can change the other value. Therefore both are compared after the last write.
    private mutating func setRate() throws(IIOFailure) {
        for quantity in wanted {
            let name = device.attribute(quantity, "sampling_frequency")
            if let name { try writeRate(name, device.choices(quantity, "sampling_frequency")) }
            let rate = name.flatMap { device.folder.number($0) }
            try setLowPass(quantity)
            guard let name, let rate, let kept = device.folder.number(name) else { continue }
            guard kept >= 0.99 * rate else {
                throw .device(
                    "reduces its sampling frequency for hardware.iio.low_pass_hz: raise this setting"
                )
            }
            guard quantity == wanted.first else { continue }
            guard kept > 0 else { throw .device("has a sampling frequency of 0") }
            period = 1 / kept
        }
    }

    /// Sets the low-pass filter of a quantity. A driver without this attribute uses its own filter.
    private mutating func setLowPass(_ quantity: IIOQuantity) throws(IIOFailure) {
        let attribute = "filter_low_pass_3db_frequency"
        guard let lowPass = request.lowPass else { return }
        guard let name = device.attribute(quantity, attribute) else {
            if quantity == .gyroscope { ignored.insert(.lowPass) }
            return
        }
        let choice = device.choices(quantity, attribute)?.atLeast(lowPass)
        try write(choice ?? Self.text(lowPass), name, in: device.folder)
        try checkLowPass(
            choice.flatMap(Double.init) ?? lowPass, isChoice: choice != nil,
            found: device.folder.number(name))
    }

    /// Writes the requested sampling frequency, or the next higher one that the driver lists.
    ///
    /// Some drivers accept more frequencies than they list: inv_mpu6050 lists 10 to 500 Hz, and
    /// accepts 4 to 1000 Hz (kernel: drivers/iio/imu/inv_mpu6050/inv_mpu_core.c). If the list ends
    /// below the requested frequency, the requested frequency is therefore tried first.
    private func writeRate(_ name: String, _ choices: IIOChoices?) throws(IIOFailure) {
        let wanted = Self.text(request.rate)
        guard let choice = choices?.atLeast(request.rate) else {
            return try write(wanted, name, in: device.folder)
        }
        if let listed = Double(choice), listed < request.rate {
            do throws(BusErrno) {
                try device.folder.write(wanted, to: name)
                if let found = device.folder.number(name), found > listed { return }
            } catch {
                // The driver accepts only the frequencies that it lists.
            }
        }
        try write(choice, name, in: device.folder)
    }

    /// Compares the corner frequency that the driver uses with the one that was written, Hz. A driver
    /// without a list of values rounds to a value of its chip.
    private func checkLowPass(
        _ wanted: Double, isChoice: Bool, found: Double?
    ) throws(IIOFailure) {
        let tolerance = isChoice ? 1.01 : 2
        guard let found, found >= wanted / tolerance, found <= wanted * tolerance else {
            throw .device(
                "has not accepted hardware.iio.low_pass_hz: its driver reports another filter")
        }
    }

    /// A number in the format that drivers parse, without an exponent: 1000, 62.5.
    static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e9 ? "\(Int(value))" : "\(value)"
    }

    /// Selects a trigger. The configured trigger is that of the gyroscope's device, and of a device
    /// that has no trigger of its own. A device with a hardware buffer has no attribute for the
    /// trigger.
    ///
    /// The kernel's drivers name a device's own trigger "NAME-devNUMBER" with the device's name and
    /// number (for example drivers/iio/imu/inv_mpu6050/inv_mpu_trigger.c), or with the device's name
    /// and another suffix. A name with the number of another device is that of another chip.
    private mutating func setTrigger() throws(IIOFailure) {
        let folder = device.folder.folder("trigger")
        guard folder.has("current_trigger") else {
            if request.trigger != nil, wanted.contains(.gyroscope) { ignored.insert(.trigger) }
            return
        }
        let current = folder.text("current_trigger")
        let names = tree.triggerNumbers().compactMap { number in
            tree.trigger(number).text("name").map { (number, $0) }
        }
        let exact = names.first { $0.1 == "\(device.name)-dev\(device.number)" }
        let own = exact ?? names.first { $0.1.hasPrefix(device.name) && !$0.1.contains("-dev") }
        let isConfigured =
            request.trigger != nil && (wanted.contains(.gyroscope) || own == nil)
        if current != nil, !isConfigured { return }
        let found = isConfigured ? names.first { $0.1 == request.trigger } : own
        guard let (number, name) = found else {
            throw request.trigger == nil
                ? .device("has no trigger: set hardware.iio.trigger")
                : .device(
                    "cannot use hardware.iio.trigger, because the kernel has no trigger of this name"
                )
        }
        if current != name { try write(name, "current_trigger", in: folder) }
        let trigger = tree.trigger(number)
        if trigger.has("sampling_frequency") {
            try write(Self.text(request.rate), "sampling_frequency", in: trigger)
        }
    }

    /// Enables the channels of the wanted quantities and the time channel, and disables all other
    /// channels. The temperature is optional, because some drivers cannot enable it together with
    /// the other channels.
    private mutating func enableChannels() throws(IIOFailure) {
        var enabled: [IIOChannel] = []
        for (channel, name) in zip(device.channels, device.channelNames) {
            let isWanted =
                switch channel.meaning {
                case .axis(let quantity, _): wanted.contains(quantity)
                case .temperature: wanted.contains(.gyroscope)
                case .timestamp: true
                case .other: false
                }
            let text = isWanted ? "1" : "0"
            do throws(IIOFailure) {
                if device.elements.text("\(name)_en") != text {
                    try write(text, "\(name)_en", in: device.elements)
                }
            } catch {
                if channel.meaning == .temperature { continue }
                throw error
            }
            if isWanted { enabled.append(channel) }
        }
        guard var decoder = IIODecoder(enabled) else {
            throw .device("has a buffer of an unknown layout")
        }
        for (quantity, conversion) in conversions { decoder[quantity] = conversion }
        decoder.temperature = (temperature("scale") ?? 1, temperature("offset") ?? 0)
        self.decoder = decoder
    }

    /// Value of a temperature channel's attribute. The attribute has the name of the channel, such as
    /// in_temp0 (kernel: drivers/iio/imu/adis16475.c), or is shared by all temperatures.
    private func temperature(_ attribute: String) -> Double? {
        let channel = zip(device.channels, device.channelNames)
            .first { $0.0.meaning == .temperature }
        return channel.flatMap { device.folder.number("\($0.1)_\(attribute)") }
            ?? device.folder.number("in_temp_\(attribute)")
    }

    private func start() throws(IIOFailure) -> IIODecoder? {
        if device.buffer.has("length") {
            try write("\(Self.length)", "length", in: device.buffer)
        }
        if device.buffer.text("watermark") ?? "1" != "1" {
            try write("1", "watermark", in: device.buffer)
        }
        try write("1", "enable", in: device.buffer)
        return decoder
    }
}
