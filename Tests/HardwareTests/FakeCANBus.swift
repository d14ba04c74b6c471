import CHardwareShim
import Glibc

@testable import Hardware

/// Simulated CAN bus without an interface. The program and the test exchange the kernel's frames
/// over socket pairs.
final class FakeCANBus {
    private var ends: [Int32] = []
    private(set) var motors: CANSocket
    private(set) var feedback: CANSocket
    private let toMotors: Int32
    private let toFeedback: Int32
    /// Errno of opening the receiving socket; 0 if it opens.
    var openError: Int32 = 0

    init() {
        func pair() -> (ours: Int32, theirs: Int32) {
            var fds: [Int32] = [0, 0]
            let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            precondition(socketpair(AF_UNIX, kind, 0, &fds) == 0)
            return (fds[0], fds[1])
        }
        let (a, b) = (pair(), pair())
        (toMotors, toFeedback) = (a.theirs, b.theirs)
        ends = [a.theirs, b.theirs]
        motors = CANSocket { fd in
            fd.pointee = a.ours
            return 0
        }
        feedback = CANSocket { _ in ENODEV }
        feedback = CANSocket { [unowned self] fd in
            guard openError == 0 else { return openError }
            fd.pointee = b.ours
            return 0
        }
    }

    deinit { for end in ends { close(end) } }

    /// Frames that the program has sent since the last call.
    func sent() -> [CANFrame] {
        var frames: [CANFrame] = []
        while true {
            var raw = canfd_frame()
            var isFD: Int32 = 0
            var age: Int64 = 0
            guard ch_can_receive(toMotors, &raw, &isFD, &age) == 0 else { return frames }
            var frame = CANFrame(
                id: raw.can_id & 0x1FFF_FFFF, isExtended: raw.can_id >> 31 != 0,
                isRemote: raw.can_id >> 30 & 1 != 0, isFD: isFD != 0)
            withUnsafeBytes(of: raw.data) {
                for index in 0..<Int(raw.len) { frame.append($0[index]) }
            }
            frames.append(frame)
        }
    }

    /// Delivers a frame to the program.
    func deliver(_ frame: CANFrame) {
        var raw = canfd_frame()
        raw.can_id =
            frame.id | (frame.isExtended ? 0x8000_0000 : 0) | (frame.isError ? 0x2000_0000 : 0)
        raw.len = UInt8(frame.count)
        withUnsafeMutableBytes(of: &raw.data) {
            for index in 0..<frame.count { $0[index] = frame[index] }
        }
        // A full queue loses frames, as the queue of a real interface does.
        _ = ch_can_send(toFeedback, &raw, frame.isFD ? 1 : 0)
    }
}
