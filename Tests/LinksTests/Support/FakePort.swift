import Configuration
import GimbalCore
import Links
import Port
import Synchronization

/// A gimbal that does what it is asked, and remembers it.
final class FakePort: GimbalPort {
    struct Memory {
        var settings = Settings()
        /// Request in words.
        var asked: [String] = []
        var gone: [CommandSource] = []
        /// Refusal of every request; nil: requests are granted.
        var refusal: Refusal?
        /// Whether only the connection that asked first is obeyed, and which one that is.
        var isOwned = false
        var owner: UInt64?
        /// Number of settings kept.
        var writes = 0
    }

    let memory = Mutex(Memory())

    var asked: [String] { memory.withLock { $0.asked } }

    func request(
        _ request: MotionRequest, from source: CommandSource, now: Instant
    ) throws(Refusal) {
        let refusal: Refusal? = memory.withLock { memory in
            if memory.refusal == nil { memory.owner = memory.owner ?? source.connection }
            if memory.isOwned, memory.owner != source.connection {
                return Refusal(.held, "somebody else is in control")
            }
            if memory.refusal == nil { memory.asked.append("\(request)") }
            return memory.refusal
        }
        if let refusal { throw refusal }
    }

    func left(_ source: CommandSource, now: Instant) { memory.withLock { $0.gone.append(source) } }

    var settings: Settings { memory.withLock { $0.settings } }

    func keep(_ update: SettingUpdate, by who: String, _ done: @escaping Later<Void>) {
        memory.withLock { memory in
            update.write(&memory.settings)
            memory.writes += 1
        }
        done(.success(()))
    }
}

extension MotionRequest {
    /// As `FakePort` remembers it.
    var words: String { "\(self)" }
}
