import GimbalCore
import Policy
import Port
import Realtime
import Robot
import Synchronization
import Testing

@Suite("Commander: two wheels")
struct CommanderDriveTests {
    private final class Wheels: Sendable {
        private let last = Mutex<DriveModel.Request?>(nil)
        /// Refusal of every request that is not a stop; nil if the wheels can turn.
        let refusal = Mutex<Refusal?>(nil)
        func take(_ request: DriveModel.Request) -> Refusal? {
            if request.left != 0, let refusal = refusal.withLock({ $0 }) { return refusal }
            last.withLock { $0 = request }
            return nil
        }
        var request: DriveModel.Request? { last.withLock { $0 } }
    }

    private let udp = CommandSource(link: .udp, connection: 1)
    private let phone = CommandSource(link: .airos, connection: 2)
    private let wheels = Wheels()

    private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    private func door(hasWheels: Bool = true) -> Commander {
        let wheels = wheels
        let take: @Sendable (DriveModel.Request) -> Refusal? = { wheels.take($0) }
        let ends = makeRing(of: TimedCommand.self, capacity: 64)
        return Commander(
            ring: ends.writer, bootMode: .inactive, rules: Commander.Rules(),
            wheels: hasWheels ? take : nil)
    }

    @Test("a request reaches the wheels with its dead-man deadline, in any mode")
    func request() throws {
        try door().request(.drive(left: 0.5, right: -0.25), from: udp, now: at(1))
        #expect(wheels.request?.left == 0.5 && wheels.request?.right == -0.25)
        #expect(wheels.request?.validUntil == at(2))
    }

    @Test("a driver has control of the wheels, and other sources cannot drive meanwhile")
    func holder() throws {
        let commander = door()
        try commander.request(.drive(left: 1, right: 1), from: udp, now: at(1))
        #expect(throws: Refusal.held(by: udp, age: 1)) {
            try commander.request(.drive(left: -1, right: -1), from: phone, now: at(2))
        }
        #expect(wheels.request?.left == 1)
    }

    @Test("wheels that cannot turn refuse a speed, and control stays free")
    func notReady() throws {
        let commander = door()
        let refusal = Refusal.wheelsNotReady("the robot has fallen")
        wheels.refusal.withLock { $0 = refusal }
        #expect(throws: refusal) {
            try commander.request(.drive(left: 1, right: 1), from: udp, now: at(1))
        }
        #expect(wheels.request == nil)
        try commander.request(.drive(left: 0, right: 0), from: phone, now: at(1.1))
        #expect(wheels.request?.left == 0)
    }

    @Test(
        "a driver whose requests the wheels refuse for longer than the release time keeps control, so the wheels receive no stop that would open their interlock"
    )
    func refusedDriver() throws {
        let commander = door()
        try commander.request(.drive(left: 1, right: 1), from: udp, now: at(1))
        let refusal = Refusal.wheelsNotReady("the robot has fallen")
        wheels.refusal.withLock { $0 = refusal }
        for second in 2...20 {
            let now = at(Double(second))
            #expect(throws: refusal) {
                try commander.request(.drive(left: 1, right: 1), from: udp, now: now)
            }
            commander.advance(now: now)
        }
        #expect(wheels.request?.left == 1, "the wheels have received no stop")
        #expect(commander.view(now: at(20)).driver == udp)
        commander.advance(now: at(31))
        #expect(wheels.request?.left == 0 && commander.view(now: at(31)).driver == nil)
    }

    @Test("an emergency stop, a disconnection, a release and the shutdown stop the wheels")
    func stops() throws {
        for end in 0..<4 {
            let commander = door()
            try commander.request(.drive(left: 1, right: 1), from: udp, now: at(1))
            switch end {
            case 0: try commander.request(.emergencyStop, from: phone, now: at(2))
            case 1: commander.disconnected(udp, now: at(2))
            case 2: try commander.request(.release, from: udp, now: at(2))
            default: commander.shutDown()
            }
            #expect(
                wheels.request?.left == 0 && wheels.request?.validUntil == .init(nanoseconds: .min))
            #expect(wheels.request?.isImmediate == (end == 0))
        }
    }

    @Test("an emergency stop also stops wheels that brake after the end of their control")
    func stopOfBrakingWheels() throws {
        let commander = door()
        try commander.request(.drive(left: 1, right: 1), from: udp, now: at(1))
        commander.disconnected(udp, now: at(2))
        try commander.request(.emergencyStop, from: phone, now: at(2.1))
        #expect(wheels.request?.isImmediate == true)
    }

    @Test(
        "after the reset of an emergency stop, the wheels stay at rest while a request is repeated, until a stop or a pause"
    )
    func reset() throws {
        let commander = door()
        func drive(_ speed: Double, _ seconds: Double) throws {
            try commander.request(.drive(left: speed, right: speed), from: udp, now: at(seconds))
        }
        try drive(1, 1)
        try commander.request(.emergencyStop, from: phone, now: at(2))
        #expect(throws: Refusal.emergencyStopped) { try drive(1, 2.5) }
        try commander.request(.resetEmergencyStop, from: phone, now: at(3))
        for tenth in 0..<20 {
            #expect(throws: Refusal.stickHeld) { try drive(1, 3.1 + Double(tenth) / 10) }
        }
        #expect(wheels.request?.left == 0)
        try drive(0, 5.1)
        try drive(1, 5.2)
        #expect(wheels.request?.left == 1)
        try commander.request(.emergencyStop, from: phone, now: at(6))
        #expect(throws: Refusal.emergencyStopped) { try drive(1, 6.5) }
        try commander.request(.resetEmergencyStop, from: phone, now: at(7))
        try drive(0.5, 7.6)
        #expect(wheels.request?.left == 0.5, "after a pause")
    }

    @Test("a request after an emergency stop, beyond full speed or without wheels is refused")
    func refusals() throws {
        let commander = door()
        #expect(throws: Refusal.outOfRange(field: "wheel", allowed: "-1...1")) {
            try commander.request(.drive(left: 1.1, right: 0), from: udp, now: at(1))
        }
        #expect(throws: Refusal.outOfRange(field: "wheel", allowed: "-1...1")) {
            try commander.request(.drive(left: .nan, right: 0), from: udp, now: at(1))
        }
        #expect(wheels.request == nil)
        try commander.request(.emergencyStop, from: phone, now: at(2))
        #expect(throws: Refusal.emergencyStopped) {
            try commander.request(.drive(left: 1, right: 0), from: udp, now: at(3))
        }
        #expect(throws: Refusal.noWheels) {
            try door(hasWheels: false).request(.drive(left: 1, right: 0), from: udp, now: at(1))
        }
        #expect(wheels.request?.left == 0)
    }
}
