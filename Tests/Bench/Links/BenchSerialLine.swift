import Glibc

/// Serial line between the bench and a program. The line is a pseudo-terminal. The program opens
/// the pseudo-terminal's file as a serial port, and the bench uses the other end.
final class BenchSerialLine {
    /// Path of the file that the program opens as a serial port.
    let path: String
    private let descriptor: Int32
    /// Numbers of the ioctls TIOCSPTLCK and TIOCGPTN from <asm-generic/ioctls.h>.
    private static let lockRequest: UInt = 0x4004_5431
    private static let numberRequest: UInt = 0x8004_5430

    /// Opens a pseudo-terminal.
    ///
    /// - Throws: An error, if the kernel cannot provide a pseudo-terminal.
    init() throws {
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var lock: Int32 = 0
        var number: UInt32 = 0
        // ioctl_tty(2): a new pseudo-terminal is locked, and must be unlocked before the program
        // can open it.
        guard descriptor >= 0, ioctl(descriptor, Self.lockRequest, &lock) == 0,
            ioctl(descriptor, Self.numberRequest, &number) == 0
        else { throw CancellationError() }
        path = "/dev/pts/\(number)"
    }

    deinit { close(descriptor) }

    /// Writes as many bytes as the line accepts without waiting.
    ///
    /// - Returns: Number of bytes written.
    func send(_ bytes: [UInt8]) -> Int { max(0, write(descriptor, bytes, bytes.count)) }
}
