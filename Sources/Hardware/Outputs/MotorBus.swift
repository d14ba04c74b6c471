internal import GimbalCore
internal import Realtime

/// Bus with motors only, without a sensor. Only the thread of this bus uses a `MotorBus`.
///
/// `@unchecked Sendable`, because the object is passed once to the thread of this bus.
final class MotorBus: OutputBus, @unchecked Sendable {
    private let port: any MotorPort

    init(_ port: any MotorPort) { self.port = port }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        guard try port.prepare(now: now) else { return }
        try port.write(output, now: now)
    }

    func allOff() throws(BusError) { try port.allOff() }
}
