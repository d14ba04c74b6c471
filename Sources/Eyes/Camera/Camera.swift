import CVideo
import PlainText

/// Frame rate as a fraction, as cameras state it: a rate of 29.97 Hz is 30000/1001.
public struct FrameRate: Sendable, Comparable, CustomStringConvertible {
    /// Numerator of the rate, Hz.
    public var numerator: Int
    /// Denominator of the rate.
    public var denominator: Int

    init(_ numerator: Int, _ denominator: Int = 1) {
        self.numerator = numerator
        self.denominator = denominator
    }

    /// Pictures per second.
    public var hz: Double { Double(numerator) / Double(denominator) }

    /// True if the rate is less than `wanted`, Hz. Rates within 1 % count as equal, because many
    /// cameras send 29.97 pictures per second instead of 30.
    func isSlower(than wanted: Int) -> Bool { hz < 0.99 * Double(wanted) }

    /// True if the rate is greater than `wanted`, Hz, by more than 1 %.
    func isFaster(than wanted: Int) -> Bool { hz > 1.01 * Double(wanted) }

    /// Compares the quotients of two rates.
    public static func < (a: FrameRate, b: FrameRate) -> Bool {
        a.numerator * b.denominator < b.numerator * a.denominator
    }

    /// Rate for display, such as "30" or "29.97", Hz.
    public var description: String {
        denominator == 1 ? "\(numerator)" : Format.fixed(hz, 2)
    }
}

/// A picture format of a camera.
public struct CameraMode: Sendable, Equatable {
    /// Encoding of the camera's pictures.
    public enum Coding: Sendable, Equatable {
        /// H.264; the camera encodes the pictures.
        case h264
        /// Single JPEG pictures.
        case jpeg
        /// Uncompressed pictures. The value is GStreamer's name for the format, such as `YUY2`.
        case raw(String)
    }

    /// Encoding of the camera's pictures.
    public var coding: Coding
    /// Smallest and largest width, pixels.
    public var widths: ClosedRange<Int>
    /// Smallest and largest height, pixels.
    public var heights: ClosedRange<Int>
    /// Frame rates and ranges of frame rates; empty if the camera does not report them.
    public var rates: [ClosedRange<FrameRate>] = []
}

/// A camera that is connected to the computer.
public struct Camera: Sendable, Equatable {
    /// Operating system interface for the camera.
    public enum Interface: String, Sendable {
        /// Camera modules (libcamera processes their raw pictures) and USB cameras.
        case libcamera
        /// USB cameras.
        case v4l2
        /// A photo or a video instead of a camera.
        case file
    }

    /// Operating system interface for the camera.
    public var interface: Interface
    /// Name of the camera, for display.
    public var name: String
    /// Path of the device, such as `/dev/video0`, or libcamera's name for the camera.
    public var path: String
    /// Name of the kernel driver; empty for a libcamera camera.
    public var driver = ""
    /// Picture formats of the camera.
    public var modes: [CameraMode] = []
}

extension Camera {
    /// Kernel drivers of codecs, image processors and the Raspberry Pi's sensor interfaces. Devices
    /// of these drivers are listed as cameras, but deliver no usable pictures. The sensor
    /// interfaces deliver raw data that only libcamera can process.
    private static let internalDrivers: Set<String> = [
        "bcm2835-codec", "bcm2835-isp", "rpivid", "rpi-hevc-dec", "pispbe", "rp1-cfe", "unicam",
    ]

    /// True if the device is a camera with usable pictures.
    var isUsable: Bool { !Self.internalDrivers.contains(driver) }

    /// True if libcamera lists a USB camera. libcamera's name of a USB camera ends with the USB
    /// vendor and product IDs, such as `-046d:082d`. The names of camera modules come from the
    /// firmware. libcamera forwards a USB camera's pictures unchanged, and does not set its frame
    /// rate.
    var isUSBThroughLibcamera: Bool {
        guard interface == .libcamera, let end = path.split(separator: "-").last else {
            return false
        }
        let numbers = end.split(separator: ":", omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) }
    }

    /// Lists the connected cameras. The search takes up to several hundred milliseconds.
    static func connected() -> [Camera] {
        let capacity = 32
        return withUnsafeTemporaryAllocation(of: cv_camera.self, capacity: capacity) { buffer in
            let count = cv_cameras(buffer.baseAddress, capacity)
            defer { cv_cameras_release(buffer.baseAddress, count) }
            return buffer.prefix(count).map { Camera($0) }.filter(\.isUsable)
        }
    }

    private init(_ camera: cv_camera) {
        interface = camera.is_libcamera ? .libcamera : .v4l2
        name = text(camera.name)
        path = text(camera.path)
        driver = text(camera.driver)
        modes = withUnsafeBytes(of: camera.modes) { bytes in
            bytes.bindMemory(to: cv_mode.self).prefix(Int(camera.mode_count))
                .compactMap { CameraMode($0) }
        }
    }
}

extension CameraMode {
    /// Converts a mode from the C shim; nil for an unsupported encoding, and for a mode without a
    /// size.
    fileprivate init?(_ mode: cv_mode) {
        guard mode.max_width > 0, mode.max_height > 0 else { return nil }
        switch text(mode.media) {
        case "video/x-h264": coding = .h264
        case "image/jpeg": coding = .jpeg
        case "video/x-raw": coding = .raw(text(mode.format))
        default: return nil
        }
        widths = Int(mode.min_width)...Int(max(mode.min_width, mode.max_width))
        heights = Int(mode.min_height)...Int(max(mode.min_height, mode.max_height))
        rates = UnsafeMutableBufferPointer(start: mode.rates, count: Int(mode.rate_count)).map {
            let low = FrameRate(Int($0.min_numerator), Int($0.min_denominator))
            return low...FrameRate(Int($0.max_numerator), Int($0.max_denominator))
        }
    }
}

/// Converts a NUL-terminated C array to a string.
func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
