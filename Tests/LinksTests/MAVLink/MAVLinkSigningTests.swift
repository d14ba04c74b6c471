import GimbalCore
import Port
import Synchronization
import SystemPackage
import Testing
import Wire

@testable import Links

@Suite("MAVLink 2 signing") struct MAVLinkSigningTests {
    private static let minute: UInt64 = 6_000_000
    private let key = SharedKey(passphrase: "correct horse")
    private let station = MAVLinkAddress(system: 255, component: 190)

    private func frame(
        _ time: UInt64, link: UInt8 = 1, _ key: SharedKey? = nil,
        _ message: some MAVLinkMessage = Heartbeat()
    ) -> [UInt8] {
        var bytes = message.frame(from: station, sequence: 0, announcesSignature: true)
        MAVLinkSignature(link: link, timestamp: time).append(to: &bytes, key: key ?? self.key)
        return bytes
    }

    @Test("a frame is accepted once, in the order of its timestamps, and with the right key")
    func once() {
        var signing = MAVLinkSigning(key: key)
        func accepts(_ bytes: [UInt8]) -> Bool {
            signing.accepts(bytes, from: station, time: 0)
        }
        let first = frame(100)
        #expect(accepts(first))
        #expect(!accepts(first))
        #expect(!accepts(frame(99)))
        #expect(!accepts(frame(101, SharedKey(passphrase: "another"))))
        #expect(!accepts(Heartbeat().frame(from: station, sequence: 0)))
        #expect(accepts(frame(101)))
        // Another link of the same sender has its own times.
        #expect(accepts(frame(50, link: 2)))
    }

    @Test(
        "the first frame of a link can be at most a minute older than the clock and the newest frame"
    )
    func age() {
        let now = 10 * Self.minute
        var signing = MAVLinkSigning(key: key)
        func accepts(_ bytes: [UInt8], at time: UInt64) -> Bool {
            signing.accepts(bytes, from: station, time: time)
        }
        #expect(!accepts(frame(now - Self.minute - 1), at: now))
        #expect(accepts(frame(now - Self.minute), at: now))
        #expect(accepts(frame(now + 5, link: 2), at: 0))
        #expect(!accepts(frame(4 * Self.minute, link: 3), at: 0))
    }

    @Test(
        "after the clock is set back, genuine frames are accepted, and signed times still increase")
    func clockStep() {
        let now = 1000 * Self.minute
        let ahead = now + 120 * Self.minute
        var signing = MAVLinkSigning(key: key)
        func signed(at time: UInt64) -> UInt64 {
            var bytes = Heartbeat().frame(from: station, sequence: 0, announcesSignature: true)
            signing.sign(&bytes, time: time)
            return MAVLinkSignature(frame: bytes)?.timestamp ?? 0
        }
        func accepts(_ bytes: [UInt8], at time: UInt64) -> Bool {
            signing.accepts(bytes, from: station, time: time)
        }
        #expect(signed(at: ahead) == ahead)
        #expect(!accepts(frame(now), at: ahead))
        #expect(accepts(frame(now), at: now))
        #expect(!accepts(frame(now), at: now))
        #expect(!accepts(frame(now - Self.minute - 1, link: 2), at: now))
        #expect(signed(at: now) > ahead)
    }

    @Test("frames from before a restart are not accepted again")
    func restart() {
        let frames = [frame(500), frame(500), frame(501)]
        var signing = MAVLinkSigning(key: key)
        var answers = [signing.accepts(frames[0], from: station, time: 0)]
        signing = MAVLinkSigning(key: key, newest: signing.newest)
        answers += frames[1...].map { signing.accepts($0, from: station, time: 0) }
        #expect(answers == [true, false, true])
    }

    @Test("a new link replaces the link with the oldest time, whose frames stay refused")
    func manyLinks() {
        let start = 10 * Self.minute
        var signing = MAVLinkSigning(key: key)
        func accepts(_ time: UInt64, link: UInt8) -> Bool {
            signing.accepts(frame(time, link: link), from: station, time: 0)
        }
        for link in UInt8.min...UInt8.max {
            #expect(accepts(start + UInt64(link), link: link))
        }
        let other = MAVLinkAddress(system: 254, component: 190)
        func acceptsOther(_ time: UInt64, _ key: SharedKey) -> Bool {
            var bytes = Heartbeat().frame(from: other, sequence: 0, announcesSignature: true)
            MAVLinkSignature(link: 0, timestamp: time).append(to: &bytes, key: key)
            return signing.accepts(bytes, from: other, time: 0)
        }
        // A replaced link could repeat its frames of the last minute.
        #expect(!acceptsOther(start + Self.minute, key))
        let later = start + Self.minute + 1
        #expect(!acceptsOther(later, SharedKey(passphrase: "another")))
        #expect(!accepts(start, link: 0))
        #expect(accepts(start + 1, link: 0))
        #expect(!acceptsOther(later, key))
        #expect(acceptsOther(later + 1, key))
        // Link 0 and link 1 had the oldest time; one of them was replaced.
        #expect(!accepts(start, link: 0) && !accepts(start + 1, link: 0))
        #expect(!accepts(start + 1, link: 1))
        #expect(accepts(start + 3, link: 2))
    }

    @Test(
        "with required signatures, only signed frames control, a stop needs no signature, and answers are signed"
    )
    func component() {
        let gimbal = FakePort()
        var configuration = MAVLinkConfiguration()
        configuration.signing = MAVLinkSigning(key: key)
        let component = MAVLinkComponent(
            configuration: configuration, port: gimbal, log: LineLog().logger, now: at(0))
        component.join(0, now: at(0))
        func receive(_ bytes: [UInt8]) {
            var parser = MAVLinkParser()
            parser.append(bytes)
            guard case .frame(let frame, let whole) = parser.next() else {
                Issue.record("The bytes are not a frame: \(bytes)")
                return
            }
            component.receive(frame, bytes: whole, from: 0, now: at(0))
        }
        func command(_ number: MAVLinkCommand, _ params: [Float]) -> CommandLong {
            var message = CommandLong()
            message.command = number.rawValue
            for (index, value) in params.enumerated() { message.params[index] = value }
            message.target = component.address
            return message
        }
        let take = command(.gimbalManagerConfigure, [-2, -2, -1, -1])
        receive(take.frame(from: station, sequence: 0))
        receive(take.frame(from: station, sequence: 0, version: .v1))
        receive(frame(1, SharedKey(passphrase: "another"), take))
        #expect(gimbal.takeRequests().isEmpty && component.counters.unsigned == 3)
        receive(frame(2, nil, take))
        receive(frame(2, nil, take))
        #expect(gimbal.takeRequests() == [.take] && component.counters.unsigned == 4)
        receive(command(.flightTermination, [1]).frame(from: station, sequence: 0))
        #expect(gimbal.takeRequests() == [.emergencyStop])
        let sent = component.takeOutgoing()
        #expect(!sent.isEmpty)
        var last: UInt64 = 0
        for outgoing in sent {
            #expect(MAVLinkSignature.isRight(outgoing.bytes, key: key))
            let time = MAVLinkSignature(frame: outgoing.bytes)?.timestamp ?? 0
            #expect(time > last)
            last = time
        }
    }

    @Test("a genuine frame whose time must be on the disk first does not count as unsigned")
    func waitsForDisk() throws {
        let gimbal = FakePort()
        var configuration = MAVLinkConfiguration()
        configuration.signing = MAVLinkSigning(key: key)
        // The file's thread does not run, so the file never admits a time.
        configuration.freshness = try FreshnessFile(
            path: FilePath("/proc/no such folder/newest"), margin: Self.minute,
            logger: LineLog().logger)
        let component = MAVLinkComponent(
            configuration: configuration, port: gimbal, log: LineLog().logger, now: at(0))
        component.join(0, now: at(0))
        for bytes in [frame(1), frame(2, SharedKey(passphrase: "another"))] {
            var parser = MAVLinkParser()
            parser.append(bytes)
            guard case .frame(let frame, let whole) = parser.next() else {
                Issue.record("The bytes are not a frame: \(bytes)")
                return
            }
            #expect(!component.admits(frame, bytes: whole, from: 0, now: at(0)))
        }
        #expect(component.counters.waitingForDisk == 1 && component.counters.unsigned == 1)
    }
}
