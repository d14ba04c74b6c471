import GimbalCore
import Testing

@testable import Links

@Suite("Full client slots of the diagnostics socket") struct ClientSlotsTests {
    private let slots = ClientSlots(limit: 64, reserved: 16)

    private func clients(
        _ count: Int, mayWrite: Bool, isStreaming: Bool = false, lastRequest: Double = 0
    ) -> [ClientSlots.Client] {
        (0..<count).map {
            ClientSlots.Client(
                mayWrite: mayWrite, isStreaming: isStreaming,
                lastRequest: at(lastRequest + Double($0) / 1000))
        }
    }

    @Test(
        "64 idle connections, readers or writers, do not keep out a client that can stop the gimbal"
    )
    func stop() {
        for mayWrite in [false, true] {
            for isStreaming in [false, true] {
                let all = clients(64, mayWrite: mayWrite, isStreaming: isStreaming)
                #expect(slots.decide(mayWrite: true, among: all, now: at(0.1)) == .replace(0))
            }
        }
    }

    @Test(
        "a reader is evicted before a writer, and a reader without subscriptions before one with them"
    )
    func order() {
        let writers = clients(40, mayWrite: true)
        let streams = clients(12, mayWrite: false, isStreaming: true, lastRequest: 1)
        let readers = clients(12, mayWrite: false, lastRequest: 2)
        #expect(
            slots.decide(mayWrite: true, among: writers + streams + readers, now: at(3))
                == .replace(52))
        let rest = clients(12, mayWrite: true, lastRequest: 2)
        #expect(
            slots.decide(mayWrite: true, among: writers + streams + rest, now: at(3))
                == .replace(40))
    }

    @Test("readers cannot use the slots reserved for writers, and replace only idle readers")
    func readers() {
        let some = clients(47, mayWrite: false)
        let all = clients(48, mayWrite: false)
        #expect(slots.decide(mayWrite: false, among: some, now: at(5)) == .admit)
        #expect(slots.decide(mayWrite: false, among: all, now: at(5)) == .refuse)
        #expect(slots.decide(mayWrite: false, among: all, now: at(11)) == .replace(0))
        #expect(slots.decide(mayWrite: true, among: all, now: at(5)) == .admit)
        let streams = clients(48, mayWrite: false, isStreaming: true)
        #expect(slots.decide(mayWrite: false, among: streams, now: at(100)) == .refuse)
        let writers = clients(64, mayWrite: true)
        #expect(slots.decide(mayWrite: false, among: writers, now: at(100)) == .refuse)
    }
}
