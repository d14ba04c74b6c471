import Glibc

/// The far end of a serial line: a pseudo-terminal, whose near end is a port that a program opens.
final class BenchSerialLine {
    /// The port.
    let path: String
    private let descriptor: Int32
    /// TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>.
    private static let lockRequest: UInt = 0x4004_5431
    private static let numberRequest: UInt = 0x8004_5430

    /// - Throws: The kernel gives none.
    init() throws {
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var lock: Int32 = 0
        var number: UInt32 = 0
        // ioctl_tty(2): the near end is locked until it is let go.
        guard descriptor >= 0, ioctl(descriptor, Self.lockRequest, &lock) == 0,
            ioctl(descriptor, Self.numberRequest, &number) == 0
        else { throw CancellationError() }
        path = "/dev/pts/\(number)"
    }

    deinit { close(descriptor) }

    /// Writes what the line takes at once.
    ///
    /// - Returns: How many bytes.
    func send(_ bytes: [UInt8]) -> Int { max(0, write(descriptor, bytes, bytes.count)) }
}
