import CLinuxShim
import Glibc

/// Control of the terminal during a live view. Whenever the view ends, the object restores all
/// modes of the terminal.
final class Terminal {
    private var saved = termios()
    private var isActive = false

    /// Current size of the terminal; 80 by 24 characters if the terminal does not report its size.
    var size: TerminalSize { Self.size(of: STDOUT_FILENO) }

    /// Size of the terminal behind a file descriptor; 80 by 24 characters if it is unknown.
    static func size(of descriptor: Int32) -> TerminalSize {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0,
            window.ws_row > 0
        else { return TerminalSize(columns: 80, rows: 24) }
        return TerminalSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Enters the live view: alternate screen, hidden cursor, single keys without echo. Ctrl-Z
    /// remains a signal. Ctrl-C and Ctrl-\ are read as keys, because a signal would also end the
    /// parent process. For example, `make run` must continue after Ctrl-C to stop its daemon.
    func enter() {
        guard !isActive else { return }
        isActive = true
        if tcgetattr(STDIN_FILENO, &saved) == 0 {
            var raw = saved
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
            raw.c_cc.0 = 0  // VINTR
            raw.c_cc.1 = 0  // VQUIT
            tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        }
        Output.control("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", to: STDOUT_FILENO)
    }

    /// Restores the state that the terminal had before `enter()`.
    func leave() {
        guard isActive else { return }
        isActive = false
        Output.control("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    }

    deinit { leave() }

    /// Displays the lines with a single write. The screen is not cleared first, to avoid flicker.
    func show(_ lines: [String]) {
        let text = lines.map(Output.shown).joined(separator: "\u{1B}[K\r\n")
        Output.control("\u{1B}[H" + text + "\u{1B}[K\u{1B}[J", to: STDOUT_FILENO)
    }

    /// Returns the bytes of all key presses since the last call. The method never blocks.
    func pressedKeys() -> [UInt8] {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        var bytes: [UInt8] = []
        while poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLIN) != 0 {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { break }
            bytes.append(byte)
        }
        return Self.keys(in: bytes)
    }

    /// Keys in bytes that have arrived together.
    ///
    /// The sequences of arrow and function keys begin with ESC and contain letters. If one byte is
    /// ESC, only Space and Ctrl-C count as keys, because no sequence contains these two bytes.
    static func keys(in bytes: [UInt8]) -> [UInt8] {
        bytes.contains(0x1B) ? bytes.filter { $0 == 0x20 || $0 == 0x03 } : bytes
    }
}
