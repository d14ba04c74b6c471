internal import CHardwareShim
internal import GimbalCore
internal import Glibc
internal import Realtime

/// One raw socket on a CAN interface. After the creation of a `CANSocket`, only one thread uses it.
/// No method blocks.
///
/// The socket is opened at the first use. While the interface is missing, `open` tries again every
/// 0.1 s.
final class CANSocket {
    /// Frames that a socket receives.
    enum Reception {
        /// The socket only sends.
        case none
        /// Frames that pass one of the filters, and the controller's error reports.
        case matching([CANFilter])
    }

    /// Function that opens a CAN socket and stores its file descriptor, like `ch_can_open`.
    typealias Open = (UnsafeMutablePointer<Int32>) -> Int32

    private let openSocket: Open
    private var device = DeviceDescriptor()

    /// Creates a socket that the function `open` opens later; tests pass a function that opens one
    /// end of a socket pair.
    init(open: @escaping Open) { openSocket = open }

    /// Creates a socket for a CAN interface.
    ///
    /// - Parameters:
    ///   - interface: Name of the interface, such as `can0`.
    ///   - reception: Frames that the socket receives.
    ///   - usesFD: True if the socket carries CAN FD frames.
    convenience init(interface: String, reception: Reception, usesFD: Bool) {
        var filters: [can_filter] = []
        var hears = false
        if case .matching(let list) = reception {
            filters = list.map { can_filter(can_id: $0.id, can_mask: $0.mask) }
            hears = true
        }
        let (listed, hearsErrors) = (filters, hears)
        self.init { descriptor in
            ch_can_open(
                interface, listed, UInt32(listed.count), hearsErrors ? 1 : 0, usesFD ? 1 : 0,
                descriptor)
        }
    }

    deinit { device.close() }

    /// Opens the socket, unless it is already open. Allocates memory if the interface is missing.
    ///
    /// - Throws: ENODEV if the interface does not exist, EAFNOSUPPORT or EPERM if the process cannot
    ///   use CAN, EINVAL if the interface does not support CAN FD.
    func open(now: Instant) throws(BusErrno) { try device.open(now: now, openSocket) }

    /// Sends a frame.
    ///
    /// - Throws: ENETDOWN if the interface is down, ENOBUFS or EAGAIN if the transmit queue is
    ///   full, for example because no node acknowledges the frames, ENODEV if the interface was
    ///   removed.
    func send(_ frame: CANFrame) throws(BusErrno) {
        try device.requireOpen()
        var raw = canfd_frame()
        raw.can_id = frame.id
        if frame.isExtended { raw.can_id |= Self.extendedFlag }
        if frame.isRemote { raw.can_id |= Self.remoteFlag }
        raw.len = UInt8(frame.count)
        withUnsafeMutableBytes(of: &raw.data) { bytes in
            for index in 0..<frame.count { bytes[index] = frame[index] }
        }
        let error = ch_can_send(device.raw, &raw, frame.isFD ? 1 : 0)
        guard error != 0 else { return }
        closeIfGone(error)
        throw BusErrno(code: error)
    }

    /// Removes and returns the oldest frame in the receive queue.
    ///
    /// - Parameter age: Time since the frame's arrival, s.
    /// - Returns: The frame; nil if the queue is empty.
    /// - Throws: ENETDOWN if the interface went down since the last call; ENODEV if the interface
    ///   was removed.
    func receive(age: inout Double) throws(BusErrno) -> CANFrame? {
        try device.requireOpen()
        var raw = canfd_frame()
        var isFD: Int32 = 0
        var nanoseconds: Int64 = 0
        let error = ch_can_receive(device.raw, &raw, &isFD, &nanoseconds)
        if error == EAGAIN { return nil }
        guard error == 0 else {
            closeIfGone(error)
            throw BusErrno(code: error)
        }
        age = Double(nanoseconds) * 1e-9
        let isExtended = raw.can_id & Self.extendedFlag != 0
        var frame = CANFrame(
            id: raw.can_id & 0x1FFF_FFFF, isExtended: isExtended,
            isRemote: raw.can_id & Self.remoteFlag != 0, isFD: isFD != 0)
        frame.isError = raw.can_id & Self.errorFlag != 0
        withUnsafeBytes(of: &raw.data) { bytes in
            for index in 0..<Int(raw.len) { frame.append(bytes[index]) }
        }
        return frame
    }

    /// Closes a socket whose interface was removed; the socket cannot be used any more.
    private func closeIfGone(_ error: Int32) {
        if error == ENODEV || error == ENXIO || error == EBADF || error == EPIPE
            || error == ECONNREFUSED
        {
            device.close()
        }
    }

    /// Flags in the identifier of the kernel's frames (`linux/can.h`).
    private static let extendedFlag: UInt32 = 0x8000_0000
    private static let remoteFlag: UInt32 = 0x4000_0000
    private static let errorFlag: UInt32 = 0x2000_0000
}
