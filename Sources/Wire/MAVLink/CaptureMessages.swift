/// State of a camera's photos and recordings.
public struct CameraCaptureStatus: MAVLinkMessage {
    /// Format of CAMERA_CAPTURE_STATUS, message number 262.
    public static let format = MAVLinkFormat(262, "CAMERA_CAPTURE_STATUS", crcExtra: 12, size: 23)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Interval of a series of photos, s; 0 without a series.
    public var interval: Float = 0
    /// Duration of the recording, ms; 0 without a recording.
    public var recordingMs: UInt32 = 0
    /// Free space for recordings, MiB.
    public var available: Float = 0
    /// State of photo capture: 0 idle.
    public var image: UInt8 = 0
    /// State of the video recording: 0 idle, 1 running.
    public var video: UInt8 = 0
    /// Number of photos.
    public var photos: Int32 = 0
    /// ID of a camera without a MAVLink component; 0 for a camera with a component.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.float(&interval)
        fields.integer(&recordingMs)
        fields.float(&available)
        fields.integer(&image)
        fields.integer(&video)
        fields.integer(&photos)
        fields.integer(&device)
    }
}

/// Size and state of the disk for photos and recordings.
public struct StorageInformation: MAVLinkMessage {
    /// Format of STORAGE_INFORMATION, message number 261.
    public static let format = MAVLinkFormat(261, "STORAGE_INFORMATION", crcExtra: 179, size: 61)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Total, used and free space, MiB.
    public var total: Float = 0, used: Float = 0, available: Float = 0
    /// Read and write speeds of the disk, MiB/s; 0 if unknown.
    public var readSpeed: Float = 0, writeSpeed: Float = 0
    /// Number of this disk, from 1, and total number of disks.
    public var id: UInt8 = 0, count: UInt8 = 0
    /// STORAGE_STATUS: 0 without a disk, 2 ready.
    public var status: UInt8 = 0
    /// STORAGE_TYPE: 254 means another type.
    public var type: UInt8 = 0
    /// Name of the disk for display.
    public var name = ""
    /// STORAGE_USAGE_FLAG: 2 means storage of photos, and 4 means storage of video.
    public var usage: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.float(&total)
        fields.float(&used)
        fields.float(&available)
        fields.float(&readSpeed)
        fields.float(&writeSpeed)
        fields.integer(&id)
        fields.integer(&count)
        fields.integer(&status)
        fields.integer(&type)
        fields.text(&name, size: 32)
        fields.integer(&usage)
    }
}

/// Report of a photo.
public struct CameraImageCaptured: MAVLinkMessage {
    /// Format of CAMERA_IMAGE_CAPTURED, message number 263.
    public static let format = MAVLinkFormat(263, "CAMERA_IMAGE_CAPTURED", crcExtra: 133, size: 255)

    /// Time of day, µs since 1970; 0 if unknown.
    public var utc: UInt64 = 0
    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Position: latitude and longitude, degrees × 10^7, and altitudes, mm; 0 if unknown.
    public var latitude: Int32 = 0, longitude: Int32 = 0, altitude: Int32 = 0, height: Int32 = 0
    /// Quaternion of the camera's attitude, w, x, y, z; all 0 if unknown.
    public var w: Float = 0, x: Float = 0, y: Float = 0, z: Float = 0
    /// Number of the photo, from 0.
    public var index: Int32 = 0
    /// ID of a camera without a MAVLink component, from 1; 0 for a camera with a component.
    public var camera: UInt8 = 0
    /// 1 means success, 0 failure.
    public var result: UInt8 = 0
    /// URL of the photo; empty if there is no URL.
    public var uri = ""

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&utc)
        fields.integer(&bootMs)
        fields.integer(&latitude)
        fields.integer(&longitude)
        fields.integer(&altitude)
        fields.integer(&height)
        fields.float(&w)
        fields.float(&x)
        fields.float(&y)
        fields.float(&z)
        fields.integer(&index)
        fields.integer(&camera)
        fields.integer(&result)
        fields.text(&uri, size: 205)
    }
}
