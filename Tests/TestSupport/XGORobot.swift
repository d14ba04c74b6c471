import Glibc
import Synchronization

/// Model of an XGO robot's board at the far end of a pseudoterminal, on its own thread.
///
/// The model follows the vendor's "XGO Serial Communication Protocol": it executes writes silently,
/// answers reads with frames of type 0x12, and keeps the last speed permanently.
public final class XGORobot: @unchecked Sendable {
    /// State of the board.
    public struct Board: Sendable {
        /// The memory table.
        public var memory = [UInt8](repeating: 0, count: 256)
        /// Version of the firmware.
        public var firmware = "R-1.2.3"
        /// True if the board does not answer.
        public var isSilent = false
        /// Angles in the registers 0x62, 0x63 and 0x64, degrees.
        public var angles: [Float] = [1.5, -2.25, 90]
        /// Bytes that the board sends before its next reply.
        public var noise: [UInt8] = []
        /// Number of the next writes of the pose (height, roll, level) that the board loses.
        public var lostPoses = 0
        /// Registers that were read.
        public var reads: [UInt8] = []
        /// Number of bytes that were not part of a valid frame.
        public var strayBytes = 0
        /// Number of valid instructions.
        public var instructions = 0
        /// Longest time between two reads of the port that returned bytes, s. airframed sends
        /// instructions every 20 ms; a pause of the machine or of a thread makes this time longer.
        public var longestGap = 0.0
        var lastRead: Double?
        var input: [UInt8] = []

        init() {
            memory[0x01] = 80
            memory[0x02] = 1
            for register in [0x30, 0x32, 0x35, 0x36] { memory[register] = 0x80 }
        }
    }

    /// Path of the port. The path is a symbolic link, so it stays the same when the robot returns
    /// on another port.
    public let path: String
    private let end = FarEnd()
    private var thread: pthread_t?

    /// The far end of the pseudoterminal. The thread retains this object instead of the robot, so
    /// that the robot ends, and removes `path`, when its test ends.
    private final class FarEnd: @unchecked Sendable {
        let board = Mutex(Board())
        let isDone = Atomic(false)
        var far: Int32 = -1

        func run() {
            var bytes = [UInt8](repeating: 0, count: 256)
            while !isDone.load(ordering: .relaxed) {
                var wait = pollfd(fd: far, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, 2)
                // Without an open near end, poll(2) reports POLLHUP at once.
                if wait.revents & Int16(POLLHUP) != 0 { usleep(1000) }
                let count = read(far, &bytes, bytes.count)
                guard count > 0 else { continue }
                let answer = board.withLock { $0.take(bytes[..<count], now: XGORobot.now) }
                if !answer.isEmpty { _ = write(far, answer, answer.count) }
            }
        }
    }

    /// Creates a robot at the given path, and plugs it in.
    public init(at path: String) {
        self.path = path
        plugIn()
    }

    deinit { unplug() }

    /// Gives exclusive access to the board.
    public func with<Result>(_ body: (inout Board) -> Result) -> Result {
        end.board.withLock { body(&$0) }
    }

    /// Value of a register.
    public subscript(register: Int) -> UInt8 { with { $0.memory[register] } }

    /// Waits until the board meets a condition; returns false after the timeout, s.
    public func waits(_ seconds: Double = 5, until isMet: (Board) -> Bool) -> Bool {
        let deadline = Self.now + seconds
        while Self.now < deadline {
            if with({ isMet($0) }) { return true }
            usleep(2000)
        }
        return false
    }

    /// Opens a port, and links `path` to it.
    public func plugIn() {
        let far = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        var (lock, number) = (Int32(0), Int32(0))
        // TIOCSPTLCK unlocks the near end, and TIOCGPTN reads its number (ioctl_tty(2)).
        precondition(
            far >= 0 && ioctl(far, 0x4004_5431, &lock) == 0
                && ioctl(far, 0x8004_5430, &number) == 0,
            "no pseudoterminal")
        end.far = far
        unlink(path)
        symlink("/dev/pts/\(number)", path)
        end.isDone.store(false, ordering: .relaxed)
        var id = pthread_t()
        let box = Unmanaged.passUnretained(end)
        pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<FarEnd>.fromOpaque(argument).takeUnretainedValue().run()
                return nil
            }, box.toOpaque())
        thread = id
    }

    /// Closes the port, like a cable that is unplugged.
    public func unplug() {
        guard let thread else { return }
        end.isDone.store(true, ordering: .relaxed)
        pthread_join(thread, nil)
        self.thread = nil
        close(end.far)
        unlink(path)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension XGORobot.Board {
    /// Executes the received bytes; returns the answer.
    fileprivate mutating func take(_ bytes: ArraySlice<UInt8>, now: Double) -> [UInt8] {
        longestGap = max(longestGap, now - (lastRead ?? now))
        lastRead = now
        input += bytes
        var answer: [UInt8] = []
        while input.count >= 9 {
            let length = Int(input[2])
            guard input[0] == 0x55, input[1] == 0, (9...40).contains(length) else {
                strayBytes += 1
                input.removeFirst()
                continue
            }
            guard input.count >= length else { break }
            let frame = Array(input[..<length])
            let sum = frame[2..<length - 3].reduce(UInt8(0), &+)
            guard frame[length - 3] == 255 - sum, frame.suffix(2) == [0x00, 0xAA] else {
                strayBytes += 1
                input.removeFirst()
                continue
            }
            input.removeFirst(length)
            instructions += 1
            answer += execute(frame)
        }
        return answer
    }

    private mutating func execute(_ frame: [UInt8]) -> [UInt8] {
        let register = frame[4]
        switch frame[3] {
        case 0x00 where lostPoses > 0 && [0x35, 0x36, 0x61].contains(register):
            lostPoses -= 1
            return []
        case 0x00:
            for (index, value) in frame[5..<frame.count - 3].enumerated() {
                memory[Int(register) + index] = value
            }
            return []
        case 0x02:
            reads.append(register)
            guard !isSilent else { return [] }
            let answer = noise + reply(register, data(register, count: Int(frame[5])))
            noise = []
            return answer
        default:
            strayBytes += frame.count
            return []
        }
    }

    private func data(_ register: UInt8, count: Int) -> [UInt8] {
        switch register {
        case 0x07: return Array((Array(firmware.utf8) + [UInt8](repeating: 0, count: 10))[..<10])
        case 0x62, 0x63, 0x64:
            let bits = angles[Int(register) - 0x62].bitPattern
            return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        default: return (0..<count).map { memory[(Int(register) + $0) % 256] }
        }
    }

    private func reply(_ register: UInt8, _ data: [UInt8]) -> [UInt8] {
        let body = [UInt8(data.count + 8), 0x12, register] + data
        return [0x55, 0x00] + body + [255 - body.reduce(UInt8(0), &+), 0x00, 0xAA]
    }
}
