internal import CHardwareShim
internal import GimbalCore
internal import Glibc
internal import Realtime

/// A GPIO line with a sensor's data-ready signal. After the creation of an `EdgeLine`, only the bus
/// thread uses it.
///
/// If the GPIO chip is missing, `EdgeLine` tries to open the chip again every 0.1 s. Until the chip
/// is open, no edges arrive.
final class EdgeLine {
    /// C strings for the system calls. The strings are created once, because string creation can
    /// allocate memory.
    private let path: UnsafeMutablePointer<CChar>
    private let consumer: UnsafeMutablePointer<CChar>
    private let line: UInt32
    private var device = DeviceDescriptor()
    private var lastSequence: UInt32 = 0
    /// Number of edges since start-up that were lost because the kernel's queue was full.
    private(set) var missed: UInt64 = 0

    /// Creates a GPIO line, which is requested from the kernel later.
    ///
    /// - Parameters:
    ///   - path: Device file of the GPIO chip, such as `/dev/gpiochip0`.
    ///   - line: Number of the line on that chip.
    init(path: String, line: Int) {
        self.path = strdup(path)
        consumer = strdup("airframed")
        self.line = UInt32(line)
    }

    deinit {
        device.close()
        free(path)
        free(consumer)
    }

    /// Requests the line from the kernel if necessary; returns true if `wait` can be used.
    func isWatched(now: Instant) -> Bool {
        _ = try? device.open(now: now) {
            lastSequence = 0
            return ch_gpio_watch(path, line, consumer, $0)
        }
        return device.isOpen
    }

    /// Waits for the first edge of the line at or after the time `notBefore`.
    ///
    /// - Parameters:
    ///   - notBefore: Time before which edges are ignored.
    ///   - deadline: Time at which the wait ends.
    /// - Returns: Time of the edge; nil if no edge came before the deadline.
    func wait(notBefore: Instant, until deadline: Instant) -> Instant? {
        while true {
            var time: Int64 = 0
            var sequence: UInt32 = 0
            switch ch_gpio_edge(device.raw, deadline.nanoseconds, &time, &sequence) {
            case 0:
                if lastSequence != 0 { missed &+= UInt64(sequence &- lastSequence &- 1) }
                lastSequence = sequence
                if time >= notBefore.nanoseconds { return Instant(nanoseconds: time) }
            case EINTR: continue
            case ETIMEDOUT: return nil
            default:
                device.close()
                return nil
            }
        }
    }
}
