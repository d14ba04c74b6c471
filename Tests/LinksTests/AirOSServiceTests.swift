import Configuration
import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

@Suite("The AirOS service") struct AirOSServiceTests {
    private let gimbal = FakePort()
    private let radio = FakeRadio()
    private let log = LineLog()
    private let service: AirOSService

    init() {
        gimbal.memory.withLock {
            $0.snapshot.attitude = EulerZXY.quaternion(AxisVector(yaw: 0.1, roll: 0.2, pitch: -0.3))
        }
        service = AirOSService(port: gimbal, logger: log.logger)
    }

    private func read(_ characteristic: AirOSCharacteristic) throws(ATTError) -> [UInt8] {
        try service.read(GATTUUID(characteristic.rawValue), by: .iPhone, now: at(0))
    }

    private func write(
        _ characteristic: AirOSCharacteristic, _ value: [UInt8], _ seconds: Double = 0
    ) throws(ATTError) {
        try service.write(
            GATTUUID(characteristic.rawValue), value, by: .iPhone, now: at(seconds), radio)
    }

    private func say(_ text: String) throws(ATTError) { try write(.control, Array(text.utf8)) }

    private func subscribe(_ characteristics: AirOSCharacteristic..., isOn: Bool = true) {
        for one in characteristics {
            service.subscription(GATTUUID(one.rawValue), isOn: isOn, now: at(0))
        }
    }

    @discardableResult
    private func advance(_ seconds: Double) -> Instant? {
        service.advance(now: at(seconds), mtu: 23, radio)
    }

    @Test("has the original's ten characteristics, with their flags and in their order")
    func table() {
        #expect(service.uuid.description == "4fafc201-1fb5-459e-8fcc-c5c9c331914b")
        #expect(service.advertisedName == "AirOS Gimbal")
        #expect(
            service.characteristics.map(\.properties) == [
                [.read, .notify], [.read, .notify], [.read, .notify], [.read, .notify],
                [.read, .write], [.write], [.read, .write], [.read, .write], [.read, .write],
                [.read, .write],
            ])
        #expect(
            service.characteristics.map(\.uuid.description)
                == AirOSCharacteristic.allCases.map(\.rawValue))
        #expect(service.characteristics.allSatisfy { !$0.name.isEmpty })
    }

    @Test("the first read returns the present values")
    func firstRead() throws {
        #expect(try read(.mode) == [1])
        #expect(try read(.status) == [2])
        #expect(try read(.pitchPID) == PIDTriple.tilt.bytes)
        #expect(try read(.rollPID) == PIDTriple.tilt.bytes)
        #expect(try read(.yawPID) == PIDTriple.pan.bytes)
        #expect(try read(.kalman).count == 12)
        let pitch = try read(.pitch).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        #expect(abs(Float(bitPattern: pitch) - 17.188734) < 1e-5)
    }

    @Test("an angle that has not been measured is an error, not a zero")
    func noSample() throws {
        gimbal.memory.withLock { $0.snapshot.samples.accepted = 0 }
        #expect(throws: ATTError.noValue) { try read(.yaw) }
        subscribe(.yaw, .status)
        advance(0)
        #expect(radio.take().map(\.value) == [[2]])
    }

    @Test("a tracking rate beyond the range is limited to the range")
    func wildRate() throws {
        try write(.mode, [4])
        try say("track_tilt:-9e9")
        let tilt = Angle.degrees(-1000).radians
        #expect(gimbal.asked.last == MotionRequest.track(pan: .nan, tilt: tilt).words)
    }

    @Test("written values reach the settings, the gimbal and the saved state unchanged")
    func writes() throws {
        try write(.mode, [4])
        try write(.yawPID, PIDTriple(p: 3, i: 0.5, d: 0.2).bytes)
        try write(.kalman, KalmanTriple(qAngle: 0.002, qBias: 0.006, rMeasure: 0.06).bytes)
        try say("track_pan:-12.50")
        try say("SAVE")
        let settings = gimbal.settings
        #expect(settings.airos.pid.yaw == PIDTriple(p: 3, i: 0.5, d: 0.2))
        #expect(settings.airos.pid.pitch == .tilt)
        #expect(
            KalmanTriple(settings.estimator)
                == KalmanTriple(qAngle: 0.002, qBias: 0.006, rMeasure: 0.06))
        let pan = Angle.degrees(-12.5).radians
        let asked = [MotionRequest.mode(.tracking), .track(pan: pan, tilt: .nan)]
        #expect(gimbal.asked == asked.map(\.words))
        let who = Central.iPhone.description
        #expect(
            gimbal.memory.withLock { $0.saves } == [
                "\(who) saved the mode, the PID values and the Kalman values"
            ])
        #expect(service.counters.writes == 5)
        #expect(log.lines.isEmpty)
    }

    @Test("an invalid value is refused with a specific error, logged, and changes nothing")
    func refusals() throws {
        let nan: [UInt8] = [0, 0, 0xC0, 0x7F]
        let cases: [(AirOSCharacteristic, [UInt8], ATTError)] = [
            (.mode, [], .invalidLength), (.mode, [1, 2], .invalidLength), (.mode, [5], .outOfRange),
            (.pitchPID, [1, 2, 3], .invalidLength), (.rollPID, nan + nan + nan, .notFinite),
            (.kalman, [UInt8](repeating: 0, count: 16), .invalidLength),
            (.control, Array("dance".utf8), .notSupported), (.control, [], .notSupported),
            (.control, [0xFF], .notSupported),
            (.control, Array("track_pan:left".utf8), .malformed),
            (.control, Array("track_tilt:nan".utf8), .notFinite),
            (.pitch, [0, 0, 0, 0], .notSupported), (.status, [1], .notSupported),
        ]
        for (index, (characteristic, value, error)) in cases.enumerated() {
            #expect(throws: error) { try write(characteristic, value, Double(index)) }
        }
        #expect(throws: ATTError.notSupported) { try read(.control) }
        #expect(log.lines.count == cases.count + 1)
        #expect(log.lines[2].contains("mode, refused: 5 is outside 0...4"), "\(log.lines[2])")
        #expect(log.lines[0].contains("phone C0:1A:B0:00:00:02"))
        #expect(gimbal.asked.isEmpty)
        #expect(gimbal.settings.airos.pid == Settings().airos.pid)
        #expect(service.counters.refusals == UInt64(cases.count) + 1)
    }

    @Test("a refusal by the gimbal reaches the central and the log")
    func backendRefusal() {
        gimbal.memory.withLock { $0.refusal = Refusal(.held, "another client is in control") }
        #expect(throws: ATTError.notAuthorized) { try write(.mode, [2]) }
        #expect(log.lines.first?.hasSuffix("refused: another client is in control.") == true)
    }

    @Test("sends to subscribers only, immediately and then once per period")
    func notifications() throws {
        #expect(advance(0) == nil)
        subscribe(.pitch, .roll, .yaw, .status)
        #expect(advance(0) == at(0.1))
        #expect(radio.take().count == 4)
        #expect(advance(0.05) == at(0.1))
        #expect(radio.take().isEmpty)
        var due = at(0.1)
        while due < at(60.05) { due = service.advance(now: due, mtu: 23, radio) ?? at(99) }
        let sent = radio.take()
        #expect(sent.count == 2400)
        let values = [try read(.pitch), try read(.roll), try read(.yaw), [2]]
        #expect(sent.prefix(4).map(\.value) == values)
        subscribe(.pitch, .roll, .yaw, isOn: false)
        advance(60.1)
        #expect(radio.take().map(\.uuid.description) == [AirOSCharacteristic.status.rawValue])
        subscribe(.status, isOn: false)
        #expect(advance(60.2) == nil)
        #expect(radio.take().isEmpty)
    }

    @Test(
        "after a pause only the newest values are sent, and missed notifications are not sent later"
    )
    func noBacklog() throws {
        subscribe(.yaw)
        advance(0)
        gimbal.memory.withLock { $0.snapshot.attitude = .aboutZ(0.7) }
        #expect(advance(7.03) == at(7.13))
        #expect(try radio.take().suffix(1).map(\.value) == [read(.yaw)])
        #expect(advance(7.04) == at(7.13))
        #expect(radio.take().isEmpty)
    }

    @Test("the mean rate is correct although calls are late", arguments: [1.0, 10, 50])
    func meanRate(hz: Double) {
        gimbal.memory.withLock { $0.settings.airos.notifyHz = hz }
        subscribe(.status)
        // Every call is up to 3 ms late.
        var now = 0.0
        while now < 60 {
            let due = advance(now) ?? at(now)
            now =
                due.seconds(since: at(0)) + 0.003
                * abs((now * 997).truncatingRemainder(dividingBy: 1))
        }
        let count = Double(radio.take().count)
        #expect(abs(count - 60 * hz) <= 1, "\(count)")
    }

    @Test("the status is calibrating during a calibration")
    func calibrating() throws {
        gimbal.memory.withLock { $0.calibration.isRunning = true }
        #expect(try read(.status) == [1])
        #expect(try read(.mode) == [1])
        subscribe(.status)
        advance(0)
        #expect(radio.take().map(\.value) == [[1]])
    }

    @Test("a central's disconnection is reported to the gimbal immediately")
    func disconnection() {
        service.disconnected(.iPad, now: at(1))
        #expect(gimbal.memory.withLock { $0.gone } == [CommandSource(Central.iPad)])
    }

    @Test(
        "defaults changes the mode after the write to the disk, unless the mode or the source in control has changed meanwhile",
        arguments: [(.fpv, true, true), (.inactive, true, false), (.fpv, false, false)]
            as [(Mode, Bool, Bool)])
    func lateDefaults(mode: Mode, isInControl: Bool, isAsked: Bool) throws {
        gimbal.memory.withLock {
            $0.isDiskSlow = true
            $0.control.mode = .fpv
            $0.control.holder = CommandSource(Central.iPhone)
        }
        try say("defaults")
        #expect(gimbal.takeRequests() == [.take])
        let waiting = gimbal.memory.withLock {
            $0.control.mode = mode
            if !isInControl { $0.control.holder = nil }
            return $0.waiting
        }
        waiting.forEach { $0(.success(())) }
        let expected: [MotionRequest] = isAsked ? [.mode(.locked)] : []
        #expect(gimbal.takeRequests() == expected)
    }

    @Test("an unknown characteristic is refused")
    func stranger() {
        let other = GATTUUID("00002a19-0000-1000-8000-00805f9b34fb")
        #expect(throws: ATTError.notSupported) {
            try service.read(other, by: .iPhone, now: at(0))
        }
        #expect(throws: ATTError.notSupported) {
            try service.write(other, [1], by: .iPhone, now: at(0), radio)
        }
        service.subscription(other, isOn: true, now: at(0))
        #expect(advance(0) == nil)
    }
}
