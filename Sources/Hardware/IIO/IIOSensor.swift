internal import GimbalCore
internal import Glibc
internal import Realtime

/// Devices and settings of a sensor whose driver is in the kernel.
public struct IIOWiring: Sendable, Equatable {
    /// The kernel's folders.
    public var tree = IIOTree()
    /// Name, label or `iio:device` name of the gyroscope; nil selects the first gyroscope.
    public var gyroscope: String?
    /// Name of the accelerometer; nil selects the accelerometer that belongs to the gyroscope.
    public var accelerometer: String?
    /// Name of the magnetometer; nil if none is used.
    public var magnetometer: String?
    /// Sampling rate, measurement ranges, low-pass filter and trigger.
    public var request = IIORequest()
    /// Maximum age of a measurement of a second device, s.
    public var staleSeconds = 0.02

    /// Creates a description in which the devices are selected automatically.
    public init() {}
}

/// The camera's inertial sensor, read from the buffers of one or several IIO devices. The object
/// finds the devices, and sets them up step by step. Afterwards, the object reads all buffered
/// samples in every period. If a device vanishes or delivers no data, the object finds and sets up
/// all devices again. Only the bus thread uses the object. Reading samples allocates no memory.
/// Finding devices and setting them up allocates memory.
final class IIOSensor: CameraSensor {
    private let wiring: IIOWiring
    private let report: SensorReport
    private var parts: [IIOPart] = []
    private var track: IIOTrack
    private var field: Vector3?
    private var fieldTime = Instant(nanoseconds: .min / 2)
    private var isUp = false
    private var notBefore = Instant(nanoseconds: .min / 2)
    private var upSince = Instant(nanoseconds: 0)
    private var lastTime = Instant(nanoseconds: .min / 2)
    private var lastSample = Instant(nanoseconds: .min / 2)
    /// The magnetometer's device, while it is set up later than the other devices.
    private var late: IIOPart?
    private var nextSearch = Instant(nanoseconds: .min / 2)

    /// Pause after a failed set-up, s.
    private static let retrySeconds = 0.2
    /// Interval between two searches for a missing magnetometer, s.
    private static let searchSeconds = 5.0
    /// Time without a measurement after which the devices are set up again, s.
    private static let stallSeconds = 0.1
    /// Longest time from the set-up to the first measurement, s; some sensors need 0.1 s to start.
    private static let startSeconds = 0.5
    /// Maximum age of a sample in the buffer, s; an older sample is discarded.
    private static let oldestSeconds = 1.0
    /// Largest time, s, by which the time stamp of a sample can be later than the beginning of the
    /// period.
    private static let earliestSeconds = 0.05

    /// Creates a sensor; the devices are found later.
    ///
    /// - Parameters:
    ///   - wiring: The devices and their settings.
    ///   - report: Report of the sensor's state, for other threads.
    init(_ wiring: IIOWiring, report: SensorReport) {
        self.wiring = wiring
        self.report = report
        track = IIOTrack(staleSeconds: wiring.staleSeconds)
    }

    var expectsMagneticField: Bool { wiring.magnetometer != nil }

    /// Number of the gyroscope's device; 0 until the device is found.
    private var number: UInt16 { UInt16(parts.first?.device.number ?? 0) }

    func read(
        into samples: inout SampleBatch, time: Instant, now: Instant
    ) throws(BusError) {
        guard isUp else { return try bringUp(now: now) }
        for index in 1..<parts.count {
            let part = parts[index]
            do throws(BusErrno) {
                try readSecond(part, now: now)
            } catch {
                if part.isOptional { continue }
                try fail(error, of: part, now: now)
            }
        }
        do throws(BusErrno) {
            try readGyroscope(into: &samples, now: now)
        } catch {
            try fail(error, of: parts[0], now: now)
        }
        let limit =
            now.seconds(since: upSince) < Self.startSeconds
            ? Self.startSeconds : Self.stallSeconds
        guard now.seconds(since: lastSample) > limit else { return }
        report.stalled()
        restart(now: now, after: 0)
    }

    /// Reads the device that contains the gyroscope. Creates samples from the gyroscope's scans and
    /// the measurements of the other devices.
    private func readGyroscope(
        into samples: inout SampleBatch, now: Instant
    ) throws(BusErrno) {
        let part = parts[0]
        guard let decoder = part.decoder else { return }
        let bytes = try part.read(most: SampleBatch.capacity - samples.count)
        for index in 0..<bytes.count / decoder.scanBytes {
            let at = index * decoder.scanBytes
            let scanned = decoder.scan(
                UnsafeRawBufferPointer(rebasing: bytes[at..<at + decoder.scanBytes]))
            guard let scan = scanned, let gyro = scan.gyro, isUsable(scan.time, now: now),
                scan.time > lastTime
            else { continue }
            guard let accel = scan.accel ?? track.value(at: scan.time) else { continue }
            var sample = IMUSample(time: scan.time, gyro: gyro, accel: accel)
            if let temperature = scan.temperature {
                sample.temperature = temperature
                sample.contents.insert(.temperature)
            }
            if let own = scan.magneticField { take(field: own, time: scan.time) }
            if let field {
                sample.magneticField = field
                sample.contents.insert(.magneticField)
                self.field = nil
            }
            samples.append(sample)
            lastTime = scan.time
            lastSample = now
        }
    }

    /// Reads a device that does not contain the gyroscope.
    private func readSecond(_ part: IIOPart, now: Instant) throws(BusErrno) {
        guard let decoder = part.decoder else { return }
        let bytes = try part.read(most: SampleBatch.capacity)
        for index in 0..<bytes.count / decoder.scanBytes {
            let at = index * decoder.scanBytes
            let scanned = decoder.scan(
                UnsafeRawBufferPointer(rebasing: bytes[at..<at + decoder.scanBytes]))
            guard let scan = scanned, isUsable(scan.time, now: now) else { continue }
            if let accel = scan.accel { track.append(accel, time: scan.time) }
            if let field = scan.magneticField { take(field: field, time: scan.time) }
        }
    }

    /// Stores a new magnetic field for the next sample. Some drivers repeat the last measurement in
    /// each scan. Therefore a measurement is new only if its value has changed.
    private func take(field new: Vector3, time: Instant) {
        guard time > fieldTime, new != lastField else { return }
        (field, fieldTime, lastField) = (new, time, new)
    }

    private var lastField = Vector3.zero

    /// True if the time stamp of a buffered sample is plausible on the monotonic clock.
    private func isUsable(_ time: Instant, now: Instant) -> Bool {
        let age = now.seconds(since: time)
        if (-Self.earliestSeconds...Self.oldestSeconds).contains(age) { return true }
        report.noteWrongTime()
        return false
    }

    private func fail(_ error: BusErrno, of part: IIOPart, now: Instant) throws(BusError) -> Never {
        let number = UInt16(part.device.number)
        report.transferFailed()
        report.stoppedAnswering()
        restart(now: now, after: 0)
        throw BusError(operation: .read, device: .iio, address: number, code: error.code)
    }

    private func restart(now: Instant, after seconds: Double) {
        isUp = false
        parts = []
        late = nil
        track.removeAll()
        field = nil
        notBefore = now.advanced(bySeconds: seconds)
    }

    // MARK: Set-up

    private func bringUp(now: Instant) throws(BusError) {
        guard now >= notBefore else { return }
        do throws(IIOFailure) {
            if parts.isEmpty { return try find() }
            for part in parts where !part.isUp {
                do throws(IIOFailure) {
                    try part.advance()
                } catch {
                    guard part.isOptional else { throw error }
                    parts.removeAll { $0 === part }
                }
                return
            }
            isUp = true
            (upSince, lastSample) = (now, now)
            report.note(ignored: parts.reduce(into: []) { $0.formUnion($1.ignored) })
            report.isUp()
        } catch {
            let number = number
            switch error {
            case .device(let words):
                report.failed(words)
                restart(now: now, after: Self.retrySeconds)
            case .file(let error):
                report.failed(
                    "cannot be set up: a sysfs file of its kernel driver cannot be read or written")
                report.transferFailed()
                restart(now: now, after: Self.retrySeconds)
                throw BusError(operation: .read, device: .iio, address: number, code: error.code)
            }
        }
    }

    /// Finds the devices.
    private func find() throws(IIOFailure) {
        let devices = IIODevice.all(in: wiring.tree)
        let choice = try IIOChoice(wiring, devices)
        parts = choice.parts.map { part($0) }
    }

    private func part(_ choice: IIOChoice.Part) -> IIOPart {
        IIOPart(
            wiring.tree, choice.device, quantities: choice.quantities, request: wiring.request,
            isOptional: choice.isOptional)
    }

    func findMissingParts(now: Instant) {
        guard isUp, wiring.magnetometer != nil else { return }
        if let late {
            do throws(IIOFailure) { try late.advance() } catch { self.late = nil }
            guard late.isUp else { return }
            parts.append(late)
            self.late = nil
        }
        guard now.seconds(since: max(fieldTime, upSince)) > FieldWatch.longestSeconds,
            now >= nextSearch
        else { return }
        nextSearch = now.advanced(bySeconds: Self.searchSeconds)
        guard let choice = try? IIOChoice(wiring, IIODevice.all(in: wiring.tree)),
            let found = choice.parts.first(where: { $0.isOptional })
        else { return }
        parts.removeAll { $0.isOptional }
        late = part(found)
    }
}

/// Selection of a sensor's devices from the kernel's IIO devices.
struct IIOChoice {
    /// A device, with the quantities that are used; the sensor works without an optional device.
    typealias Part = (device: IIODevice, quantities: [IIOQuantity], isOptional: Bool)

    /// The devices; the device that contains the gyroscope is first.
    private(set) var parts: [Part]

    /// Chooses the devices.
    ///
    /// - Throws: `.device` with the reason if a device is missing.
    init(_ wiring: IIOWiring, _ devices: [IIODevice]) throws(IIOFailure) {
        func device(_ name: String, _ quantity: IIOQuantity) throws(IIOFailure) -> IIODevice {
            guard
                let found = devices.first(where: { device in
                    IIODevice.find(name, in: [device]) != nil && device.measures(quantity)
                })
            else {
                throw IIODevice.find(name, in: devices) == nil
                    ? .device("is missing: the kernel has no IIO device of this name")
                    : .device("has no buffer for a required channel: see the check \"iio\"")
            }
            return found
        }
        let gyroscope: IIODevice
        if let name = wiring.gyroscope {
            gyroscope = try device(name, .gyroscope)
        } else {
            guard let first = devices.first(where: { $0.measures(.gyroscope) }) else {
                throw .device("is missing: no IIO device supports buffered gyroscope data")
            }
            gyroscope = first
        }
        let accelerometer: IIODevice
        if let name = wiring.accelerometer {
            accelerometer = try device(name, .accelerometer)
        } else {
            guard let found = Self.accelerometer(of: gyroscope, devices) else {
                throw .device(
                    "lacks an accelerometer: no IIO device supports buffered accelerometer data")
            }
            accelerometer = found
        }
        parts = [(gyroscope, [.gyroscope], false)]
        func add(_ device: IIODevice, _ quantity: IIOQuantity, isOptional: Bool) {
            if let index = parts.firstIndex(where: { $0.device.number == device.number }) {
                parts[index].quantities.append(quantity)
            } else {
                parts.append((device, [quantity], isOptional))
            }
        }
        add(accelerometer, .accelerometer, isOptional: false)
        if let name = wiring.magnetometer,
            let magnetometer = devices.first(where: { device in
                IIODevice.find(name, in: [device]) != nil && device.measures(.magnetometer)
            })
        {
            add(magnetometer, .magnetometer, isOptional: true)
        }
    }

    /// Accelerometer that belongs to a gyroscope. The accelerometer is the gyroscope's own device,
    /// or the device whose name has the longest prefix in common with the gyroscope's name.
    private static func accelerometer(
        of gyroscope: IIODevice, _ devices: [IIODevice]
    ) -> IIODevice? {
        if gyroscope.measures(.accelerometer) { return gyroscope }
        func likeness(_ device: IIODevice) -> Int {
            zip(device.name, gyroscope.name).prefix { $0 == $1 }.count
        }
        let candidates = devices.filter { $0.measures(.accelerometer) }
        return candidates.dropFirst().reduce(candidates.first) { best, device in
            guard let best else { return device }
            return likeness(device) > likeness(best) ? device : best
        }
    }
}
