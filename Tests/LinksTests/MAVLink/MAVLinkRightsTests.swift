import Configuration
import GimbalCore
import Port
import Synchronization
import Testing
import Wire

@testable import Links

/// A gimbal component among several peers: 0 and 1 are guests, 9 is a peer from the configuration.
@Suite("MAVLink: rights") struct MAVLinkRightsTests {
    private let station = MAVLinkAddress(system: 255, component: 190)
    private let other = MAVLinkAddress(system: 254, component: 190)
    private let own = MAVLinkAddress(system: 1, component: 154)
    private let gimbal = FakePort()
    private let component: MAVLinkComponent

    init() {
        component = MAVLinkComponent(
            configuration: MAVLinkConfiguration(), port: gimbal, log: LineLog().logger,
            now: at(0))
        for guest in [0, 1] { component.join(guest, now: at(0)) }
        component.join(9, isConfigured: true, now: at(0))
    }

    private func receive(
        _ message: some MAVLinkMessage, from sender: MAVLinkAddress, by peer: Int = 0,
        at seconds: Double = 0
    ) {
        let frame = MAVLinkFrame(message, from: sender, sequence: 0, version: .v2)
        component.receive(frame, bytes: [], from: peer, now: at(seconds))
    }

    /// A command and its result; nil: no answer.
    @discardableResult
    private func command(
        _ number: MAVLinkCommand, _ params: [Float], from sender: MAVLinkAddress,
        by peer: Int = 0, target: MAVLinkAddress? = nil, at seconds: Double = 0
    ) -> UInt8? {
        var message = CommandLong()
        message.command = number.rawValue
        message.params = params + [Float](repeating: 0, count: 7 - params.count)
        message.target = target ?? own
        receive(message, from: sender, by: peer, at: seconds)
        return answer(to: peer)
    }

    /// The result that has been sent to a peer; nil: no result.
    private func answer(to peer: Int = 0) -> UInt8? {
        component.sent(CommandAck.self, to: peer).last?.result
    }

    private func take(
        _ sender: MAVLinkAddress, by peer: Int = 0, at seconds: Double = 0
    ) -> UInt8? {
        command(
            .gimbalManagerConfigure, [-2, -2, -1, -1], from: sender, by: peer, at: seconds)
    }

    private func setP(_ value: Float, from sender: MAVLinkAddress, by peer: Int = 0) {
        var set = ParamSet()
        set.name = "GMB_PIT_P"
        set.value = value
        set.type = 9
        set.target = own
        receive(set, from: sender, by: peer)
    }

    private var p: Double { gimbal.settings.airos.pid.pitch.p }

    @Test(
        "CONFIGURE does not remove the peer in control; that peer can hand over or release control")
    func configure() {
        receive(Heartbeat(), from: other, by: 1)
        #expect(take(station) == 0)
        #expect(take(other, by: 1) == 1)
        for params in [[0, 0, 0, 0], [-1, -1, -2, -2], [254, 190, -1, -1]] as [[Float]] {
            #expect(command(.gimbalManagerConfigure, params, from: other, by: 1) == 1)
        }
        #expect(component.director.primary == station && component.director.secondary == .none)
        // A secondary station does not change the primary one.
        #expect(command(.gimbalManagerConfigure, [-1, -1, 254, 190], from: station) == 0)
        #expect(take(other, by: 1) == 1)
        #expect(command(.gimbalManagerConfigure, [-1, -1, -3, -3], from: other, by: 1) == 0)
        #expect(command(.gimbalManagerConfigure, [254, 190, -1, -1], from: station) == 0)
        #expect(component.director.primary == other)
    }

    @Test("CONFIGURE that changes nothing prolongs control only for the peer in control")
    func unchanged() {
        #expect(take(station) == 0)
        _ = gimbal.takeRequests()
        for params in [[-1, -1, -1, -1], [-3, -3, -3, -3], [255, 190, -1, -1]] as [[Float]] {
            #expect(command(.gimbalManagerConfigure, params, from: other, by: 1) == 0)
        }
        #expect(gimbal.takeRequests().isEmpty)
        #expect(command(.gimbalManagerConfigure, [-1, -1, -1, -1], from: station) == 0)
        #expect(gimbal.takeRequests() == [.take])
    }

    @Test("a peer that releases or transfers control is not a lost peer")
    func release() {
        receive(Heartbeat(), from: other, by: 1)
        #expect(take(station) == 0)
        #expect(command(.gimbalManagerConfigure, [254, 190, -1, -1], from: station) == 0)
        #expect(
            command(.gimbalManagerConfigure, [-3, -3, -3, -3], from: other, by: 1) == 0)
        #expect(gimbal.takeRequests() == [.take, .release, .take, .release])
        #expect(gimbal.memory.withLock { $0.gone.isEmpty })
        #expect(component.director.primary == .none)
    }

    @Test(
        "control cannot go to a component that was never heard, because its silence could not be detected"
    )
    func unheard() {
        #expect(command(.gimbalManagerConfigure, [77, 77, -1, -1], from: station) == 2)
        #expect(component.director.primary == .none)
    }

    @Test(
        "a component's address belongs to the peer that used it first, until five seconds of silence"
    )
    func identity() {
        #expect(take(station) == 0)
        _ = gimbal.takeRequests()
        let point: [Float] = [-30, 20, .nan, .nan, 28]
        #expect(command(.gimbalManagerPitchYaw, point, from: station, by: 1, at: 4) == nil)
        setP(4, from: station, by: 1)
        #expect(gimbal.takeRequests().isEmpty && p == 1.2)
        #expect(component.counters.spoofed == 2)
        // Another peer's frames with its address do not keep the station alive.
        for tenth in 0...52 {
            receive(Heartbeat(), from: station, by: 1, at: Double(tenth) / 10)
            _ = component.advance(now: at(Double(tenth) / 10))
        }
        #expect(component.director.primary == .none)
        // Then the address is free, and its new user does not inherit control.
        #expect(command(.gimbalManagerPitchYaw, point, from: station, by: 1, at: 5.3) == 10)
        #expect(take(station, by: 1, at: 5.4) == 0)
    }

    @Test(
        "a peer with invented addresses replaces only its own addresses, and cannot take one in use"
    )
    func namesMadeUp() {
        receive(Heartbeat(), from: other, by: 1)
        for system in 1...253 as ClosedRange<UInt8> {
            receive(Heartbeat(), from: MAVLinkAddress(system: system, component: 9), by: 0)
        }
        let spoofed = component.counters.spoofed
        receive(Heartbeat(), from: other, by: 0)
        #expect(component.counters.spoofed == spoofed + 1)
        #expect(take(other, by: 1) == 0)
    }

    @Test("a configured peer has priority over a guest")
    func configuredWay() {
        let pilot = MAVLinkAddress(system: 1, component: 1)
        #expect(take(pilot, by: 0) == 0)
        receive(Heartbeat(), from: pilot, by: 9)
        #expect(component.director.primary == .none)
        #expect(take(pilot, by: 9) == 0)
        #expect(take(pilot, by: 0) == nil)
        #expect(component.director.primary == pilot)
    }

    @Test(
        "a stop is accepted from every sender: with any address, without a slot, without a signature"
    )
    func stops() {
        #expect(take(station) == 0)
        _ = gimbal.takeRequests()
        #expect(command(.flightTermination, [1], from: station, by: 1) == 0)
        #expect(command(.armDisarm, [0, 21196], from: other, by: 1) == 0)
        #expect(command(.flightTermination, [1], from: own, target: MAVLinkAddress.none) == 0)
        var stop = CommandLong()
        stop.command = MAVLinkCommand.flightTermination.rawValue
        stop.params[0] = 1
        let frame = MAVLinkFrame(stop, from: other, sequence: 0, version: .v1)
        #expect(!component.admits(frame, bytes: [], from: nil, now: at(0)))
        #expect(gimbal.takeRequests() == Array(repeating: .emergencyStop, count: 4))
    }

    @Test("the peer in control can set parameters, and saves them only with an explicit command")
    func parameters() {
        setP(2, from: station)
        #expect(p == 1.2)
        #expect(command(.preflightStorage, [1], from: station) == 10)
        #expect(take(station) == 0)
        setP(2, from: station)
        setP(3, from: other, by: 1)
        #expect(p == 2)
        #expect(gimbal.memory.withLock { $0.saves.count } == 0)
        #expect(command(.preflightStorage, [1], from: station, target: MAVLinkAddress.none) == 3)
        #expect(command(.preflightStorage, [0], from: station) == 3)
        #expect(command(.preflightStorage, [1], from: station) == 0)
        #expect(gimbal.memory.withLock { $0.saves.count } == 1)
    }

    @Test("every peer receives a changed parameter, and only the sender an answer to a refusal")
    func parameterValues() {
        func peers() -> [Int] {
            component.takeOutgoing().filter { outgoing in
                var parser = MAVLinkParser()
                parser.append(outgoing.bytes)
                guard case .frame(let frame, _) = parser.next() else { return false }
                return frame.message(ParamValue.self) != nil
            }.map(\.peer)
        }
        #expect(take(station) == 0)
        setP(2, from: station)
        #expect(peers() == [0, 1, 9])
        setP(-1, from: station)
        #expect(peers() == [0])
        setP(3, from: other, by: 1)
        #expect(peers() == [1])
    }

    @Test(
        "a save is answered when the disk has finished, and other commands are not delayed",
        arguments: [
            (.success(()), 0), (.failure(Refusal(.failed, "the disk is full")), 4),
            (.failure(Refusal(.busy, "the disk is slow")), 1),
        ] as [(Result<Void, Refusal>, UInt8)])
    func slowDisk(outcome: Result<Void, Refusal>, result: UInt8) {
        #expect(take(station) == 0)
        gimbal.memory.withLock { $0.isDiskSlow = true }
        #expect(command(.preflightStorage, [1], from: station) == nil)
        #expect(command(.flightTermination, [1], from: station) == 0)
        for done in gimbal.memory.withLock({ $0.waiting }) { done(outcome) }
        _ = component.advance(now: at(0.2))
        #expect(answer() == result)
    }

    @Test(
        "a broadcast calibration is for the vehicle; the gimbal's calibration needs its own address"
    )
    func calibration() {
        let pilot = MAVLinkAddress(system: 1, component: 0)
        for target in [.none, pilot] {
            #expect(command(.preflightCalibration, [1], from: station, target: target) == 3)
        }
        #expect(gimbal.memory.withLock { $0.calibrations } == 0)
        #expect(command(.preflightCalibration, [1], from: station) == 0)
        #expect(gimbal.memory.withLock { $0.calibrations } == 1)
    }

    @Test(
        "the switch of the motors and a calibration take control, and are refused to other peers",
        arguments: [
            (.armDisarm, [1]), (.armDisarm, [0]), (.preflightCalibration, [1]),
        ] as [(MAVLinkCommand, [Float])])
    func implicitControl(_ number: MAVLinkCommand, _ params: [Float]) {
        #expect(command(number, params, from: station) == 0)
        #expect(component.director.primary == station)
        #expect(gimbal.takeRequests().first == .take)
        #expect(command(number, params, from: other, by: 1) == 10)
        #expect(gimbal.takeRequests().isEmpty)
        #expect(command(.gimbalManagerConfigure, [-3, -3, -1, -1], from: station) == 0)
        #expect(gimbal.takeRequests() == [.release])
        #expect(command(number, params, from: other, by: 1) == 0)
        #expect(component.director.primary == other)
    }

    @Test("repeated stops are reported at most once per second")
    func tellingOfStops() {
        for _ in 0..<1000 { _ = command(.flightTermination, [1], from: other, by: 1) }
        receive(Heartbeat(), from: station)
        _ = component.takeOutgoing()
        _ = command(.flightTermination, [1], from: other, by: 1, at: 0.5)
        var message = CommandLong()
        message.command = MAVLinkCommand.flightTermination.rawValue
        message.params[0] = 1
        receive(message, from: other, by: 1, at: 0.6)
        #expect(component.takeOutgoing().count == 1)
    }
}

@Suite("MAVLink: slots for guests") struct MAVLinkOpenPeersTests {
    private func address(_ host: Int, _ port: UInt16) -> DatagramAddress {
        guard let address = DatagramAddress(host: "10.0.0.\(host)", port: port) else {
            fatalError("no address")
        }
        return address
    }

    private func full() -> MAVLinkOpenPeers {
        var guests = MAVLinkOpenPeers(first: 2)
        for port in 1...8 as ClosedRange<UInt16> {
            _ = guests.admit(
                address(1, port), MAVLinkParser(), now: at(0), isInControl: { _ in false })
        }
        return guests
    }

    @Test("eight guests from one host do not keep out other hosts")
    func flood() {
        var guests = full()
        let place = guests.admit(
            address(2, 1), MAVLinkParser(), now: at(0.1), isInControl: { _ in false })
        #expect(place?.evicted?.0 != nil)
        // A ninth guest from the same host does not replace the newcomer.
        let ninth = guests.admit(
            address(1, 9), MAVLinkParser(), now: at(0.2), isInControl: { _ in false })
        #expect(ninth == nil)
        #expect(guests[address(2, 1)] != nil)
    }

    @Test("a guest that is idle for two seconds can be replaced, unless it is in control")
    func idle() {
        var guests = full()
        let first = guests[address(1, 1)]?.number
        for port in 2...8 as ClosedRange<UInt16> {
            guests.heard(address(1, port), MAVLinkParser(), now: at(2))
        }
        let refused = guests.admit(
            address(1, 9), MAVLinkParser(), now: at(2.5), isInControl: { $0 == first })
        #expect(refused == nil)
        let place = guests.admit(
            address(1, 9), MAVLinkParser(), now: at(2.5), isInControl: { _ in false })
        #expect(place?.evicted?.0 == address(1, 1))
    }

    @Test("a guest that is silent for ten seconds is removed")
    func silence() {
        var guests = full()
        guests.heard(address(1, 3), MAVLinkParser(), now: at(5))
        #expect(guests.dismiss(now: at(10.1)).count == 7)
        #expect(guests[address(1, 3)] != nil)
    }
}
