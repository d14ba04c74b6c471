/// Message with the identity and capabilities of a camera.
public struct CameraInformation: MAVLinkMessage {
    /// Format of CAMERA_INFORMATION, message number 259.
    public static let format = MAVLinkFormat(259, "CAMERA_INFORMATION", crcExtra: 92, size: 235)

    /// Time since the start of airframed, ms.
    public var bootMs: UInt32 = 0
    /// Version of the camera's firmware, with the major version in the lowest byte.
    public var firmware: UInt32 = 0
    /// Focal length, mm; NaN if unknown.
    public var focalLength: Float = 0
    /// Width of the sensor, mm; NaN if unknown.
    public var sensorWidth: Float = 0
    /// Height of the sensor, mm; NaN if unknown.
    public var sensorHeight: Float = 0
    /// Capabilities of the camera, CAMERA_CAP_FLAGS: 1 video recording, 2 photos, 8 photos in video
    /// mode, 16 recording in photo mode, 256 video stream, 512 tracking of a point, 1024 tracking
    /// of a rectangle.
    public var flags: UInt32 = 0
    /// Width of pictures, pixels.
    public var width: UInt16 = 0
    /// Height of pictures, pixels.
    public var height: UInt16 = 0
    /// Version of the camera's definition file; 0 without a definition file.
    public var definitionVersion: UInt16 = 0
    /// Name of the camera's vendor.
    public var vendor = ""
    /// Name of the camera's model.
    public var model = ""
    /// ID of the lens.
    public var lens: UInt8 = 0
    /// Address of the camera's definition file; empty without a definition file.
    public var definition = ""
    /// Component ID of the camera's gimbal, or 1...6 for a gimbal without its own component; 0
    /// without a gimbal.
    public var gimbal: UInt8 = 0
    /// ID of a camera without a MAVLink component; 0 for a camera with a component.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.integer(&bootMs)
        fields.integer(&firmware)
        fields.float(&focalLength)
        fields.float(&sensorWidth)
        fields.float(&sensorHeight)
        fields.integer(&flags)
        fields.integer(&width)
        fields.integer(&height)
        fields.integer(&definitionVersion)
        fields.text(&vendor, size: 32)
        fields.text(&model, size: 32)
        fields.integer(&lens)
        fields.text(&definition, size: 140)
        fields.integer(&gimbal)
        fields.integer(&device)
    }
}

/// Frame rate, bit rate, size and state of a video stream. These fields are in
/// VIDEO_STREAM_INFORMATION and VIDEO_STREAM_STATUS.
public struct StreamPictures: Hashable, Sendable {
    /// Pictures per second.
    public var rate: Float = 0
    /// Bit rate, bit/s.
    public var bitrate: UInt32 = 0
    /// State of the stream, VIDEO_STREAM_STATUS_FLAGS: 1 means that the stream is running.
    public var flags: UInt16 = 0
    /// Width of the pictures, pixels.
    public var width: UInt16 = 0
    /// Height of the pictures, pixels.
    public var height: UInt16 = 0
    /// Clockwise rotation of the picture, degrees.
    public var rotation: UInt16 = 0
    /// Horizontal field of view, degrees; 0 if unknown.
    public var angleOfView: UInt16 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.float(&rate)
        fields.integer(&bitrate)
        fields.integer(&flags)
        fields.integer(&width)
        fields.integer(&height)
        fields.integer(&rotation)
        fields.integer(&angleOfView)
    }
}

/// Message with the properties and the address of a video stream.
public struct VideoStreamInformation: MAVLinkMessage {
    /// Format of VIDEO_STREAM_INFORMATION, message number 269.
    public static let format = MAVLinkFormat(
        269, "VIDEO_STREAM_INFORMATION", crcExtra: 109, size: 213)

    /// Frame rate, bit rate, size and state of the stream.
    public var pictures = StreamPictures()
    /// Number of the stream, from 1.
    public var stream: UInt8 = 0
    /// Number of streams.
    public var count: UInt8 = 0
    /// Type of the stream, VIDEO_STREAM_TYPE: 0 means RTSP.
    public var type: UInt8 = 0
    /// Name of the stream for display.
    public var name = ""
    /// Address (URI) of the stream.
    public var uri = ""
    /// Encoding of the stream, VIDEO_STREAM_ENCODING: 1 means H.264.
    public var encoding: UInt8 = 0
    /// ID of a camera without a MAVLink component; 0 for a camera with a component.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        pictures.visit(&fields)
        fields.integer(&stream)
        fields.integer(&count)
        fields.integer(&type)
        fields.text(&name, size: 32)
        fields.text(&uri, size: 160)
        fields.integer(&encoding)
        fields.integer(&device)
    }
}

/// Message with the state of a video stream.
public struct VideoStreamStatus: MAVLinkMessage {
    /// Format of VIDEO_STREAM_STATUS, message number 270.
    public static let format = MAVLinkFormat(270, "VIDEO_STREAM_STATUS", crcExtra: 59, size: 19)

    /// Frame rate, bit rate, size and state of the stream.
    public var pictures = StreamPictures()
    /// Number of the stream, from 1.
    public var stream: UInt8 = 0
    /// ID of a camera without a MAVLink component; 0 for a camera with a component.
    public var device: UInt8 = 0

    /// Creates a message with all fields zero.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        pictures.visit(&fields)
        fields.integer(&stream)
        fields.integer(&device)
    }
}

/// State of a camera's person tracking, and the person's position in the picture.
public struct CameraTrackingImageStatus: MAVLinkMessage {
    /// Format of CAMERA_TRACKING_IMAGE_STATUS, message number 275.
    public static let format = MAVLinkFormat(
        275, "CAMERA_TRACKING_IMAGE_STATUS", crcExtra: 126, size: 31)

    /// Centre and radius of a circle around the person, fractions of the picture; NaN if the
    /// message contains a rectangle.
    public var x: Float = .nan, y: Float = .nan, radius: Float = .nan
    /// Edges of the rectangle around the person, fractions of the picture; NaN if unknown.
    public var left: Float = .nan, top: Float = .nan, right: Float = .nan, bottom: Float = .nan
    /// CAMERA_TRACKING_STATUS_FLAGS: 0 idle, 1 active, 2 error.
    public var status: UInt8 = 0
    /// CAMERA_TRACKING_MODE: 0 none, 1 point, 2 rectangle.
    public var mode: UInt8 = 0
    /// CAMERA_TRACKING_TARGET_DATA: 4 means that this message contains the person's position.
    public var data: UInt8 = 0

    /// Creates the status of a camera without tracking.
    public init() {}

    /// Visits the fields in wire order.
    public mutating func visit(_ fields: inout some MAVLinkFields) {
        fields.float(&x)
        fields.float(&y)
        fields.float(&radius)
        fields.float(&left)
        fields.float(&top)
        fields.float(&right)
        fields.float(&bottom)
        fields.integer(&status)
        fields.integer(&mode)
        fields.integer(&data)
    }
}
