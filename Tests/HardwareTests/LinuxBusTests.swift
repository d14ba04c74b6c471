import CMallocCounter
import Configuration
import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

@Suite("Sensors on a bus")
struct LinuxBusTests {
    static func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    /// The camera's sensor; optionally on I2C, a sensor on the handle and the encoders.
    struct Bench {
        let camera = FakeChip(.icm42688p)
        let handle = FakeChip(.mpu6050)
        let wires = [I2CWire(), I2CWire(), I2CWire()]
        let reports = SensorReports()
        let bus: LinuxBus

        init(hasEncoders: Bool = true) {
            let encoders = wires.enumerated().map { index, wire in
                wire[AS5600.address, 0x0B] = 0x20
                wire[AS5600.address, 0x0C] = UInt8(index + 1)
                return AS5600(bus: wire.bus(), zero: 0, direction: index == 1 ? -1 : 1)
            }
            bus = LinuxBus(
                camera: InertialSensor(
                    chip: camera.description(), link: camera, report: reports.camera),
                handle: HandleSensor(
                    sensor: InertialSensor(
                        chip: handle.description(), link: handle, report: reports.handle),
                    mounting: Quaternion.aboutZ(.pi / 2), staleSeconds: 0.02),
                encoders: hasEncoders
                    ? JointEncoders(yaw: encoders[0], roll: encoders[1], pitch: encoders[2]) : nil,
                motors: nil)
        }

        /// The samples that the bus delivers between two times, with a read every 2 ms.
        func run(_ from: Double, _ to: Double) -> [IMUSample] {
            var samples: [IMUSample] = []
            for tick in Int(from * 500)..<Int(to * 500) {
                let now = LinuxBusTests.at(Double(tick) / 500)
                camera.now = now
                handle.now = now
                var batch = SampleBatch()
                do { try bus.read(into: &batch, now: now) } catch {}
                samples += (0..<batch.count).map { batch[$0] }
            }
            return samples
        }
    }

    @Test(
        "a sample contains the joints' angles and the handle's rate, rotated by its mounting")
    func together() throws {
        let sample = try #require(Bench().run(0, 1).last)
        let handle = sample.baseGyro
        #expect(sample.contents.contains(.baseGyro) && sample.contents.contains(.joints))
        // The chip's x axis is the handle's y axis.
        #expect(abs(handle.y - sample.gyro.x) < 1e-9 && abs(handle.x) < 1e-9)
        let sixteenth = 2 * Double.pi / 16
        #expect(abs(sample.joints.yaw - sixteenth) < 1e-9)
        #expect(abs(sample.joints.roll + 2 * sixteenth) < 1e-9)
        #expect(abs(sample.joints.pitch - 3 * sixteenth) < 1e-9)
    }

    @Test("a missing sensor on the handle is reported, and the camera's samples continue")
    func handleGone() throws {
        let bench = Bench()
        _ = bench.run(0, 1)
        #expect(bench.bus.conditions == .none)
        bench.handle.failing = ENXIO
        let alone = bench.run(1, 1.2)
        #expect(alone.count == 100)
        #expect(alone.last?.contents.contains(.baseGyro) == false)
        #expect(bench.bus.conditions.intersects(.handleIMUMissing))
        #expect(bench.reports.handle.outages > 0 && bench.reports.camera.outages == 0)
        bench.handle.failing = 0
        #expect(bench.run(1.2, 2.2).last?.contents.contains(.baseGyro) == true)
        #expect(bench.bus.conditions == .none)
    }

    @Test("a stuck bus of the handle is read again only while the motors are off, ever less often")
    func handleStuck() throws {
        let bench = Bench()
        try bench.bus.write(MotorOutput(enabled: true), now: Self.at(0))
        _ = bench.run(0, 1)
        let before = bench.handle.transfers
        bench.handle.failing = ETIMEDOUT
        #expect(bench.run(1, 2).count == 500)
        #expect(bench.handle.transfers == before + 1, "the motors are on")
        #expect(bench.bus.conditions.intersects(.handleIMUMissing))
        try bench.bus.write(.off, now: Self.at(2))
        _ = bench.run(2, 32)
        #expect((4...9).contains(bench.handle.transfers - before))
        bench.handle.failing = 0
        _ = bench.run(32, 45)
        try bench.bus.write(MotorOutput(enabled: true), now: Self.at(45))
        #expect(bench.run(45, 46).last?.contents.contains(.baseGyro) == true)
        #expect(bench.bus.conditions == .none)
    }

    @Test("the camera's sensor is read before the handle's sensor, whose bus can be stuck")
    func cameraFirst() throws {
        final class Camera: CameraSensor {
            let handle: FakeChip
            var handleTransfers: Int?
            init(_ handle: FakeChip) { self.handle = handle }
            func read(into samples: inout SampleBatch, time: Instant, now: Instant) {
                handleTransfers = handle.transfers
            }
        }
        let handle = FakeChip(.mpu6050)
        let camera = Camera(handle)
        let bus = LinuxBus(
            camera: camera,
            handle: HandleSensor(
                sensor: InertialSensor(
                    chip: handle.description(), link: handle, report: SensorReport()),
                mounting: .identity, staleSeconds: 0.02),
            motors: nil)
        var batch = SampleBatch()
        try bus.read(into: &batch, now: Self.at(0))
        #expect(camera.handleTransfers == 0 && handle.transfers > 0)
    }

    @Test("the drives are read once in a period, even if the camera's sensor is read twice")
    func readsOnce() throws {
        final class Counter: JointFeedback {
            var reads = 0
            func read(now: Instant) { reads += 1 }
            func add(to sample: inout IMUSample) {}
            var conditions: Conditions { .none }
        }
        let (camera, counter) = (FakeChip(.icm42688p), Counter())
        let bus = LinuxBus(
            camera: InertialSensor(
                chip: camera.description(), link: camera, report: SensorReport()),
            drives: counter, motors: nil)
        camera.failing = ENXIO
        var batch = SampleBatch()
        for _ in 0..<2 {
            #expect(throws: BusError.self) { try bus.read(into: &batch, now: Self.at(0)) }
        }
        #expect(counter.reads == 1)
        #expect(throws: BusError.self) { try bus.read(into: &batch, now: Self.at(0.002)) }
        #expect(counter.reads == 2)
    }

    @Test(
        "an encoder without an answer or without its magnet is reported, and its angle is not used",
        arguments: [true, false])
    func encoderGone(isAbsent: Bool) {
        let bench = Bench()
        _ = bench.run(0, 1)
        if isAbsent {
            bench.wires[1].absent = [AS5600.address]
        } else {
            bench.wires[1][AS5600.address, 0x0B] = 0
        }
        #expect(bench.run(1, 1.1).last?.contents.contains(.joints) == false)
        #expect(bench.bus.conditions.intersects(.encoderMissing))
        bench.wires[1].absent = []
        bench.wires[1][AS5600.address, 0x0B] = 0x20
        #expect(bench.run(1.1, 1.2).last?.contents.contains(.joints) == true)
        #expect(bench.bus.conditions == .none)
    }

    @Test("a burst from any chip on I2C is one system call", arguments: SensorChip.allCases)
    func oneCall(chip: SensorChip) throws {
        let wire = I2CWire()
        wire[0x18, 0] = 0
        wire[0x68, 0] = 0
        let link = I2CChipLink(
            bus: wire.bus(), addresses: chip == .bmi088 ? [0x18, 0x68] : [0x68])
        link.prepare(BusScheduleTests.description(of: chip).burst)
        for _ in 0..<10 { _ = try link.burst() }
        #expect(wire.calls == 10)
    }

    @Test(
        "an adapter that accepts a read only as the last message gets a transfer for each read",
        arguments: SensorChip.allCases)
    func readsLast(chip: SensorChip) throws {
        let wire = I2CWire()
        wire.mustReadLast = true
        for register in 0..<256 {
            wire[0x18, register] = UInt8(register)
            wire[0x68, register] = UInt8(255 - register)
        }
        let addresses: [UInt16] = chip == .bmi088 ? [0x18, 0x68] : [0x68]
        let reads = BusScheduleTests.description(of: chip).burst
        let expected = reads.flatMap { read -> [UInt8] in
            (0..<read.count).map { wire[addresses[read.part], Int(read.register) + $0] }
        }
        let link = I2CChipLink(bus: wire.bus(), addresses: addresses)
        link.prepare(reads)
        for burst in 0..<10 {
            let before = wire.calls
            let bytes = Array(try link.burst())
            #expect(bytes == expected)
            // The adapter refuses the first transfer with several reads.
            let refused = burst == 0 && reads.count > 1 ? 1 : 0
            #expect(wire.calls - before == reads.count + refused)
        }
    }

    @Test("an adapter that refuses every transfer is reported as such")
    func refuses() {
        let wire = I2CWire()
        wire[0x68, 0] = 0
        wire.error = EOPNOTSUPP
        let link = I2CChipLink(bus: wire.bus(), addresses: [0x68])
        link.prepare(BusScheduleTests.description(of: .icm42688p).burst)
        for _ in 0..<2 {
            do {
                _ = try link.burst()
                Issue.record("the transfer succeeded")
            } catch {
                #expect(error.code == EOPNOTSUPP)
            }
        }
    }

    @Test("an adapter that was removed is opened again when it returns")
    func removed() throws {
        let wire = I2CWire()
        wire[0x68, 0] = 7
        let link = I2CChipLink(bus: wire.bus(), addresses: [0x68])
        #expect(try link.read(0, count: 1, part: 0) == 7)
        wire.error = ENODEV
        wire.openError = ENOENT
        #expect(throws: BusErrno.self) { try link.read(0, count: 1, part: 0) }
        wire.error = 0
        // The thread looks for the device ten times per second, and immediately the first time.
        let began = MonotonicClock.now
        while wire.opens < 3, MonotonicClock.now.seconds(since: began) < 5 {
            #expect(throws: BusErrno.self) { try link.read(0, count: 1, part: 0) }
        }
        wire.openError = 0
        var word: UInt64?
        while word == nil, MonotonicClock.now.seconds(since: began) < 5 {
            word = try? link.read(0, count: 1, part: 0)
        }
        #expect(word == 7)
    }

    @Test("a device that is lost immediately after it was opened counts as missing")
    func lost() throws {
        var device = DeviceDescriptor()
        try device.open(now: Self.at(0)) { descriptor in
            descriptor.pointee = dup(0)
            return 0
        }
        device.close()
        do throws(BusErrno) {
            // The next attempt to open the device follows 0.1 s after the last one.
            try device.open(now: Self.at(0.05)) { _ in 0 }
            Issue.record("the device is open")
        } catch {
            #expect(error.code == ENODEV)
        }
    }

    @Test(
        "a configured magnetometer without measurements is reported after 1 s, another one when it stops",
        arguments: [true, false])
    func magnetometer(isExpected: Bool) {
        var watch = FieldWatch(isExpected: isExpected)
        func note(_ seconds: Double, field: Bool, samples: Bool = true) -> Bool {
            var batch = SampleBatch()
            var sample = IMUSample(time: Self.at(seconds), gyro: .zero, accel: .zero)
            if field { sample.contents.insert(.magneticField) }
            if samples { batch.append(sample) }
            watch.note(batch, now: Self.at(seconds))
            return watch.isMissing
        }
        #expect(!note(0, field: false))
        #expect(!note(0.9, field: false))
        #expect(note(1.1, field: false) == isExpected)
        #expect(!note(2, field: true))
        #expect(!note(2.9, field: false))
        #expect(note(3.1, field: false))
        #expect(!note(4, field: true), "it measures again")
        #expect(!note(9, field: false, samples: false), "without a sample, the sensor is missing")
    }

    @Test("a missing data-ready line counts as late edges, but only after the sensor's set-up")
    func missingEdges() {
        let report = SensorReport()
        let line = EdgeLine(path: "/nowhere/gpiochip0", line: 3)
        let pace = DataReady(line: line, period: 0.002, report: report)
        #expect(pace.wait(until: Self.at(1)) == nil)
        #expect(report.lateEdges == 0)
        report.isUp()
        #expect(pace.wait(until: Self.at(2)) == nil)
        #expect(report.lateEdges == 1)
    }

    @Test("the search for missing devices allocates nothing")
    func missing() {
        let exchange = I2CExchange(capacity: 1)
        let bus = I2CBus(path: "/nowhere/i2c-with-a-name-longer-than-fifteen-bytes")
        let device = SPIDevice(path: "/nowhere/spidev-with-a-name-longer-than-fifteen-bytes")
        let line = EdgeLine(path: "/nowhere/gpiochip-with-a-long-name", line: 3)
        let message = SPIMessage(transfers: 1, bytes: 1, clock: 1000)
        var calls: Int64 = 0
        let hook = FaultCampaignTests.costOfThrowing
        // The thread looks for each device ten times per second.
        let began = MonotonicClock.now
        var rounds = 0
        while MonotonicClock.now.seconds(since: began) < 0.35 {
            rounds += 1
            let before = mc_count()
            do { try bus.run(exchange) } catch {}
            do { try device.run(message) } catch {}
            _ = line.isWatched(now: Self.at(Double(rounds)))
            if rounds > 1 { calls += (mc_count() - before) % hook }
        }
        if mc_is_active() { #expect(calls == 0) }
    }

    @Test(
        "a wrong chip at the address is reported and not used; the right chip is then used without a restart"
    )
    func wrongChip() {
        for kind in FakeChip.Kind.allCases {
            let chip = FakeChip(kind)
            let report = SensorReport()
            let sensor = InertialSensor(chip: chip.description(), link: chip, report: report)
            func run(_ from: Int, _ to: Int) -> Int {
                var count = 0
                for tick in from..<to {
                    let now = Self.at(Double(tick) / 500)
                    chip.now = now
                    var batch = SampleBatch()
                    do { try sensor.read(into: &batch, time: now, now: now) } catch {}
                    count += batch.count
                }
                return count
            }
            chip.hasWrongIdentity = true
            #expect(run(0, 250) == 0)
            #expect(report.lastFailure?.hasPrefix("is not ") == true)
            chip.hasWrongIdentity = false
            #expect(run(250, 750) > 100)
            #expect(report.lastFailure == nil && report.isRunning)
        }
    }

    @Test(
        "a chip that resets in operation is counted within 20 ms, and measures again within 0.4 s",
        arguments: FakeChip.Kind.allCases)
    func reset(kind: FakeChip.Kind) {
        // Either half of a BMI088 can reset alone.
        for part in 0...(kind == .bmi088 ? 1 : 0) {
            let chip = FakeChip(kind)
            let report = SensorReport()
            let sensor = InertialSensor(chip: chip.description(), link: chip, report: report)
            var last = 1.0
            var gap = 0.0
            var noticed: Double?
            for tick in 0..<1000 {
                let time = Double(tick) / 500
                chip.now = Self.at(time)
                if tick == 500 { chip.reset(part: part) }
                var batch = SampleBatch()
                do { try sensor.read(into: &batch, time: chip.now, now: chip.now) } catch {}
                if noticed == nil, report.lostConfigurations > 0 { noticed = time - 1 }
                guard batch.count > 0, time >= 1 else { continue }
                gap = max(gap, time - last)
                last = time
            }
            #expect(report.lostConfigurations == 1, "part \(part)")
            #expect(noticed.map { $0 <= 0.0201 } == true, "part \(part): \(noticed ?? .nan) s")
            #expect(gap > 0.05 && gap < 0.4, "part \(part): \(gap) s")
            #expect(last > 1.99)
        }
    }
}
