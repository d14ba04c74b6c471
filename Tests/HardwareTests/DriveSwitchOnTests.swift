import Configuration
import GimbalCore
import Testing

@testable import Hardware

@Suite("Drives on a CAN bus: mode and switch-on")
struct DriveSwitchOnTests {
    /// Protocols whose drives obey several kinds of commands.
    static let protocols: [DriveProtocol] = [.odrive, .mit, .cybergear]

    /// Request of the sequence that switches a drive on.
    enum Request: Equatable {
        case mode(UInt32)
        case on(UInt32)
    }

    static func request(_ frame: CANFrame, _ name: DriveProtocol) -> Request? {
        switch name {
        case .odrive where frame.id & 0x1F == 0x0B: .mode(frame.id >> 5)
        case .odrive where frame.id & 0x1F == 0x07 && frame[0] == 8: .on(frame.id >> 5)
        case .mit where frame.id == 0x7FF && frame[3] == 10: .mode(UInt32(frame[0]))
        case .mit where frame.id < 4 && frame[0] == 0xFF && frame[7] == 0xFC: .on(frame.id)
        case .cybergear where frame.id >> 24 == 18: .mode(frame.id & 0xFF)
        case .cybergear where frame.id >> 24 == 3: .on(frame.id & 0xFF)
        default: nil
        }
    }

    static func codec(_ name: DriveProtocol) -> any DriveCodec {
        HardwareWiring.CANDrives(
            interface: "can0", protocolName: name, ids: AxisVector(yaw: 1, roll: 2, pitch: 3),
            host: 0
        ).codec
    }

    @Test(
        "a drive is switched on only in a period after the one that sent its mode, regardless of the frames that a full queue rejects",
        arguments: protocols)
    func fullQueue(name: DriveProtocol) {
        var state: UInt64 = 7
        func isRejected() -> Bool {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 62 == 0
        }
        for _ in 0..<200 {
            var codec = Self.codec(name)
            // Periods in which the modes of the drives were sent.
            var modes: [UInt32: Int] = [:]
            var on: Set<UInt32> = []
            for period in 0..<20 {
                for frame in frames(&codec, at: 0.002 * Double(period)) {
                    // In the last periods, the queue has room.
                    if period < 10, isRejected() {
                        codec.forgetRequests(of: frame)
                        continue
                    }
                    switch Self.request(frame, name) {
                    case .mode(let node): modes[node] = period
                    case .on(let node):
                        #expect((modes[node] ?? .max) < period, "\(name): drive \(node)")
                        on.insert(node)
                    case nil: break
                    }
                }
            }
            #expect(on == [1, 2, 3], "\(name)")
        }
    }

    @Test(
        "an adapter that sends the frame with the lowest identifier first sends each mode before the drive is switched on",
        arguments: protocols)
    func order(name: DriveProtocol) {
        var codec = Self.codec(name)
        var sent: [Request] = []
        for period in 0..<6 {
            let sorted = frames(&codec, at: 0.002 * Double(period)).sorted { $0.id < $1.id }
            sent += sorted.compactMap { Self.request($0, name) }
        }
        #expect(sent.count == 6, "\(name)")
        for node in UInt32(1)...3 {
            #expect(
                sent.filter { $0 == .mode(node) || $0 == .on(node) } == [.mode(node), .on(node)],
                "\(name)")
        }
    }
}
