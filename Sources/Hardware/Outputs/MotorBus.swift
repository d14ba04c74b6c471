internal import GimbalCore
internal import Realtime

/// Motors with a separate bus. Only the thread of that bus uses the object.
///
/// `@unchecked Sendable`, because the object is passed once to that thread.
final class MotorBus: OutputBus, @unchecked Sendable {
    private let port: any MotorPort

    init(_ port: any MotorPort) { self.port = port }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard try port.prepare(now: now) else { return }
        try port.write(output, now: now)
    }

    func allOff() throws(BusError) { try port.allOff() }
}
