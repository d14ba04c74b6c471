import Configuration
import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

// Messages that are sent periodically or on request.
extension MAVLinkComponentTests {
    @Test(
        "a broadcast request for a message that the gimbal does not send is not answered",
        arguments: [MAVLinkAddress.none, MAVLinkAddress(system: 1, component: 0)])
    func messagesOfOthers(target: MAVLinkAddress) {
        let component = component()
        for number in [
            MAVLinkCommand.requestMessage, .setMessageInterval, .getMessageInterval,
        ] {
            // GPS_RAW_INT and GIMBAL_DEVICE_ATTITUDE_STATUS
            #expect(command(number, [24, 100_000], component, target: target).isEmpty)
            #expect(command(number, [285, 100_000], component, target: target) == [0])
            #expect(command(number, [24, 100_000], component) == [3])
        }
        #expect(component.counters.refused == 3)
    }

    @Test("streams: heartbeat 1 Hz, manager 5 Hz, device 10 Hz, and every requested rate")
    func streams() {
        let component = component()
        func count<Message: MAVLinkMessage>(_ type: Message.Type, _ from: Double) -> Int {
            var now = at(from)
            var frames = 0
            while now < at(from + 10) {
                let next = component.advance(now: now)
                frames += component.sent(type).count
                now = max(next, now.advanced(bySeconds: 1e-4))
            }
            return frames
        }
        #expect(count(Heartbeat.self, 0) == 10)
        #expect(abs(count(GimbalManagerStatus.self, 20) - 50) <= 1)
        #expect(abs(count(GimbalDeviceAttitudeStatus.self, 40) - 100) <= 1)
        #expect(command(.setMessageInterval, [285, 10_000], component) == [0])
        #expect(abs(count(GimbalDeviceAttitudeStatus.self, 60) - 1000) <= 1)
        #expect(command(.setMessageInterval, [285, -1], component) == [0])
        #expect(count(GimbalDeviceAttitudeStatus.self, 80) == 0)
    }

    @Test("a request for BATTERY_STATUS is accepted only if a battery is reported")
    func battery() {
        var battery = BatteryStatus()
        #expect(command(.requestMessage, [147], component()) == [3])
        #expect(command(.requestMessage, [147], component(battery: battery)) == [0])
        battery.problem = "the battery is not present"
        #expect(command(.requestMessage, [147], component(battery: battery)) == [1])
    }

    @Test("before the first sample, the gimbal does not send its information, and refuses requests")
    func information() {
        let component = component()
        gimbal.memory.withLock { $0.snapshot = StabilizerSnapshot() }
        for id in [280, 283] as [Float] {
            #expect(command(.requestMessage, [id], component) == [1])
            #expect(command(.setMessageInterval, [id, 100_000], component) == [0])
        }
        _ = component.advance(now: at(1))
        #expect(component.sent(GimbalManagerInformation.self).isEmpty)
        _ = component.advance(now: at(2))
        #expect(component.sent(GimbalDeviceInformation.self).isEmpty)
        gimbal.memory.withLock { $0.snapshot.samples.accepted = 1 }
        for id in [280, 283] as [Float] {
            #expect(command(.requestMessage, [id], component) == [0])
        }
        _ = component.advance(now: at(3))
        #expect(component.sent(GimbalManagerInformation.self).contains { $0.pitchMin < 0 })
    }

    @Test("the heartbeat cannot be disabled, but its interval can change")
    func heartbeatInterval() {
        let component = component()
        #expect(command(.setMessageInterval, [0, -1], component) == [2])
        #expect(command(.setMessageInterval, [0, 500_000], component) == [0])
        #expect(component.period(of: 0, for: 0) == 0.5)
        #expect(command(.setMessageInterval, [0, 0], component) == [0])
    }

    @Test(
        "an interval of more than 30 minutes is denied, and the interval stays the same",
        arguments: [1.81e9, 3e9, 1e17, .infinity, .nan] as [Float])
    func longIntervals(_ microseconds: Float) {
        let stream = VideoStream(
            uri: "rtsp://10.0.0.2:8554/stream", width: 1280, height: 720, rateHz: Number(30),
            bitrateKbps: Number(4000))
        let component = component(camera: stream)
        #expect(command(.setMessageInterval, [30, microseconds], component) == [2])
        let camera = component.cameraAddress
        #expect(
            command(.setMessageInterval, [275, microseconds], component, target: camera) == [2])
        #expect(command(.setMessageInterval, [30, 1.8e9], component) == [0])
        #expect(command(.setMessageInterval, [275, 1.8e9], component, target: camera) == [0])
        for second in 0...2 { _ = component.advance(now: at(Double(second))) }
        _ = component.takeOutgoing()
        var get = CommandLong()
        get.command = MAVLinkCommand.getMessageInterval.rawValue
        get.params[0] = 30
        get.target = component.address
        receive(get, component)
        #expect(component.sent(MessageInterval.self).map(\.interval) == [1_800_000_000])
    }

    @Test("a parameter that another client changes is sent once to all ground stations")
    func changedParameters() {
        let component = component()
        component.join(1, now: at(0))
        _ = component.advance(now: at(0))
        #expect(component.sent(ParamValue.self).isEmpty)
        gimbal.memory.withLock { memory in
            memory.settings.airos.pid.pitch.p = 2.5
            memory.profiles = ProfileList(names: ["calm"], active: "calm")
        }
        _ = component.advance(now: at(1))
        let values = component.sent(ParamValue.self, to: 0)
        #expect(values.map(\.name) == ["GMB_PIT_P", "GMB_PROFILE"])
        #expect(values.map(\.value) == [2.5, 1])
        _ = component.advance(now: at(2))
        #expect(component.sent(ParamValue.self).isEmpty)

        gimbal.memory.withLock { $0.settings.airos.pid.pitch.p = 1.2 }
        _ = component.advance(now: at(3))
        #expect(component.sent(ParamValue.self, to: 1).map(\.value) == [1.2])

        // A change by a ground station is reported at once, and not a second time.
        _ = command(.gimbalManagerConfigure, [-2, -2, -1, -1], component)
        var set = ParamSet()
        set.name = "GMB_PIT_P"
        set.value = 2
        set.type = 9
        set.target = component.address
        receive(set, component, seconds: 3)
        #expect(component.sent(ParamValue.self, to: 1).map(\.value) == [2])
        _ = component.advance(now: at(4))
        #expect(component.sent(ParamValue.self).isEmpty)
    }

    @Test("many changed parameters are sent a few at a time, because a link can be slow")
    func manyChangedParameters() {
        let component = component()
        _ = component.advance(now: at(0))
        gimbal.memory.withLock { memory in
            let triple = PIDTriple(p: 2.5, i: 0.5, d: 0.25)
            memory.settings.airos.pid.pitch = triple
            memory.settings.airos.pid.roll = triple
            memory.settings.airos.pid.yaw = triple
        }
        var counts: [Int] = []
        var names: [String] = []
        for step in 1...6 {
            _ = component.advance(now: at(Double(step)))
            let sent = component.sent(ParamValue.self).map(\.name)
            counts.append(sent.count)
            names += sent
        }
        #expect(counts == [2, 2, 2, 2, 1, 0])
        #expect(names == MAVLinkParameter.all.prefix(9).map(\.name))
    }
}
