import Glibc
import SystemPackage
import TestSupport

/// Program with a pty as its controlling terminal, so that Ctrl-C sends a signal.
final class Terminal {
    let processID: pid_t
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    /// Position after the last text that `says` has found.
    private var position = 0

    /// TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, POSIX_SPAWN_SETSID of spawn.h.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    private static let newSession: Int16 = 0x80

    init(_ arguments: [String]) throws {
        // The calls of posix_openpt(3), which Glibc does not export to Swift (ioctl_tty(2)).
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, UInt32) = (0, 0)
        guard descriptor >= 0, ioctl(descriptor, Self.setLock, &lock) == 0,
            ioctl(descriptor, Self.getNumber, &number) == 0
        else { throw Errno(rawValue: errno) }
        let name = "/dev/pts/\(number)"
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process of a new session gets the first terminal that it opens as its controlling
        // terminal.
        posix_spawnattr_setflags(&attributes, Self.newSession)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        let error = posix_spawnp(&child, arguments[0], &actions, &attributes, &words, environ)
        guard error == 0 else { throw Errno(rawValue: error) }
        processID = child
    }

    deinit {
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
        close(descriptor)
    }

    /// All text so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Waits until the program writes a text, after the text of the previous call.
    func says(_ wanted: String, within seconds: Double = 15) -> Bool {
        eventually(within: seconds) {
            receive()
            let rest = String(decoding: bytes[position...], as: UTF8.self)
            guard let range = rest.firstRange(of: wanted) else { return false }
            position += rest[..<range.upperBound].utf8.count
            return true
        }
    }

    /// Types keys; `\u{3}` is Ctrl-C, `\u{4}` is Ctrl-D.
    func type(_ keys: String) {
        _ = Array(keys.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Changes the size of the window; the program receives SIGWINCH.
    func resize(rows: UInt16, columns: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
    }

    /// Exit status of the program, or the negative number of a signal; nil if it does not end.
    func end(within seconds: Double = 10) -> Int32? {
        var status: Int32 = 0
        let hasEnded = eventually(within: seconds) {
            receive()
            return waitpid(processID, &status, WNOHANG) == processID
        }
        guard hasEnded else { return nil }
        // The program can write its last text after the last call of `receive`.
        receive()
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
    }
}
