internal import GimbalCore
internal import Glibc
internal import Realtime

/// Three brushless motors whose drives are on a CAN bus. Only the motors' thread uses a
/// `CANMotors`.
///
/// In each period, the thread sends a torque to each drive. The torque also restarts the drive's
/// watchdog. The thread does not receive frames; `DriveFeedback` receives them on the sensors'
/// thread.
final class CANMotors: MotorPort {
    private let socket: CANSocket
    private var codec: any DriveCodec
    private let direction: AxisVector
    private let reports: DriveReports
    private var frames: [CANFrame] = []

    /// Number of times that `allOff` sends the frames that switch the drives off. The frames are
    /// repeated, because the bus can lose frames.
    private static let offRounds = 3
    /// Pause between two repetitions of the frames that switch the drives off, µs.
    private static let offPause: UInt32 = 2000

    /// Creates motors.
    ///
    /// - Parameters:
    ///   - socket: Socket for sending.
    ///   - codec: Protocol of the drives.
    ///   - direction: Direction of each drive: 1, or -1 if a positive torque of the drive turns the
    ///     joint backwards.
    ///   - reports: Reports of the drives' state.
    init(
        socket: CANSocket, codec: any DriveCodec, direction: AxisVector, reports: DriveReports
    ) {
        self.socket = socket
        self.codec = codec
        self.direction = direction
        self.reports = reports
        frames.reserveCapacity(TransmitQueue.length)
    }

    func prepare(now: Instant) throws(BusError) -> Bool {
        do throws(BusErrno) {
            try socket.open(now: now)
        } catch {
            throw BusError(operation: .write, device: .can, address: 0, code: error.code)
        }
        return true
    }

    func write(_ output: MotorOutput, now: Instant) throws(BusError) {
        reports.note(
            wanted: output.enabled ? AxisSet(yaw: true, roll: true, pitch: true) : .none)
        try send(
            isEnabled: output.enabled, torque: output.torque * direction, now: now, .write)
    }

    func allOff() throws(BusError) {
        reports.note(wanted: .none)
        for round in 0..<Self.offRounds {
            if round > 0 { usleep(Self.offPause) }
            do throws(BusErrno) {
                try socket.open(now: MonotonicClock.now)
            } catch {
                throw BusError(operation: .off, device: .can, address: 0, code: error.code)
            }
            codec.forgetRequests()
            try send(isEnabled: false, torque: .zero, now: MonotonicClock.now, .off)
        }
    }

    /// Sends the frames of one period. If a frame cannot be sent, the remaining frames are still
    /// sent.
    private func send(
        isEnabled: Bool, torque: AxisVector, now: Instant, _ operation: BusError.Operation
    ) throws(BusError) {
        frames.removeAll(keepingCapacity: true)
        var command = DriveCommand(
            isEnabled: isEnabled, torque: torque, states: reports.states, now: now)
        command.supplyFactor = reports.supply.factor
        codec.compose(command, into: &frames)
        var failure: BusError?
        for index in frames.indices {
            do throws(BusErrno) {
                try socket.send(frames[index])
                reports.noteSent()
            } catch {
                // If no drive has supply, the bus does not acknowledge the frames, and the queue is
                // full. The condition `drive_silent` reports the drives.
                let isQueueFull = error.code == ENOBUFS || error.code == EAGAIN
                if isQueueFull, !isEnabled, operation == .write, reports.areAllSilent { continue }
                codec.forgetRequests(of: frames[index])
                failure = BusError(
                    operation: operation, device: .can,
                    address: UInt16(truncatingIfNeeded: frames[index].id), code: error.code)
            }
        }
        if let failure { throw failure }
    }
}
