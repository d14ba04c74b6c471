internal import GimbalCore
internal import Glibc

/// File descriptor of a device that can be missing. While the device is missing, `open` tries to
/// open it again every 0.1 s. Only one thread uses the descriptor.
struct DeviceDescriptor {
    /// The file descriptor; -1 while the device is not open.
    private(set) var raw: Int32 = -1
    /// The result of the last attempt to open the device, 0 or an errno, or the reason of `close`.
    private var lastError: Int32 = ENODEV
    private var nextLook = Instant(nanoseconds: .min)

    /// Interval between attempts to open a missing device, s.
    private static let lookSeconds = 0.1

    /// True if the device is open.
    var isOpen: Bool { raw >= 0 }

    /// Opens the device, unless it is open.
    ///
    /// - Parameters:
    ///   - now: Present time.
    ///   - open: Function that opens the device: it stores the descriptor, and returns 0 or an errno.
    /// - Returns: True if this call has opened the device.
    /// - Throws: The error of the last attempt.
    @discardableResult
    mutating func open(
        now: Instant, _ open: (UnsafeMutablePointer<Int32>) -> Int32
    ) throws(BusErrno) -> Bool {
        guard raw < 0 else { return false }
        if now >= nextLook {
            nextLook = now.advanced(bySeconds: Self.lookSeconds)
            var descriptor: Int32 = -1
            lastError = open(&descriptor)
            if lastError == 0 { raw = descriptor }
        }
        try requireOpen()
        return true
    }

    /// Checks that the device is open.
    ///
    /// - Throws: The error of the last attempt to open the device, or the reason of `close`.
    func requireOpen() throws(BusErrno) {
        guard raw >= 0 else { throw BusErrno(code: lastError) }
    }

    /// Closes the device.
    ///
    /// - Parameters:
    ///   - reason: Error that `requireOpen` throws until the next attempt to open the device.
    ///   - close: Function that closes the descriptor.
    mutating func close(
        because reason: Int32 = ENODEV, with close: (Int32) -> Void = { _ = Glibc.close($0) }
    ) {
        guard raw >= 0 else { return }
        lastError = reason
        close(raw)
        raw = -1
    }
}
