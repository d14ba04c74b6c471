import GimbalCore
import Port
import Synchronization
import Wire

@testable import Links

/// A gimbal that remembers what it was asked for.
final class FakeGimbal: MAVLinkBackend {
    struct Memory {
        var snapshot: StabilizerSnapshot
        var holder = MAVLinkView.Holder.nobody
        var asked: [MAVLinkMotion] = []
        var gone: [MAVLinkAddress] = []
        var refusal: Refusal?
        var values = [1.2, 240]
        var saves = 0
        /// Whether what is saved waits in `waiting`.
        var isDiskSlow = false
        var waiting: [Later<Void>] = []
        var calibrations = 0
    }

    let memory: Mutex<Memory>

    init() {
        var snapshot = StabilizerSnapshot()
        snapshot.mode = .locked
        snapshot.samples.accepted = 1
        memory = Mutex(Memory(snapshot: snapshot))
    }

    /// What was asked for since the last call.
    func takeAsked() -> [MAVLinkMotion] {
        memory.withLock { memory in
            defer { memory.asked = [] }
            return memory.asked
        }
    }

    var view: MAVLinkView? {
        memory.withLock { memory in
            var view = MAVLinkView(
                snapshot: memory.snapshot, lower: AxisVector(repeating: -2),
                upper: AxisVector(repeating: 2), holder: memory.holder)
            view.followLag = 0.4
            return view
        }
    }

    func ask(_ motion: MAVLinkMotion, for peer: MAVLinkAddress, now: Instant)
        throws(Refusal)
    {
        let refusal: Refusal? = memory.withLock { memory in
            if memory.refusal == nil { memory.asked.append(motion) }
            return memory.refusal
        }
        if let refusal { throw refusal }
    }

    func disconnected(_ peer: MAVLinkAddress, now: Instant) {
        memory.withLock { $0.gone.append(peer) }
    }

    func calibrateGyro(for peer: MAVLinkAddress, now: Instant) throws(Refusal) {
        memory.withLock { $0.calibrations += 1 }
    }

    var parameters: [MAVLinkParameter] {
        memory.withLock {
            [MAVLinkParameter("P", $0.values[0]), MAVLinkParameter("RATE", $0.values[1])]
        }
    }

    func set(_ name: String, to value: Double, by peer: MAVLinkAddress) throws(Refusal) {
        guard value >= 0 else { throw Refusal(.refused, "below 0") }
        memory.withLock { $0.values[name == "P" ? 0 : 1] = value }
    }

    func saveParameters(by peer: MAVLinkAddress, _ done: @escaping Later<Void>) {
        memory.withLock {
            $0.saves += 1
            if $0.isDiskSlow { $0.waiting.append(done) } else { done(.success(())) }
        }
    }
}
