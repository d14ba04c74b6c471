/// Description of a shot, as the user writes it in a file or on the command line. Angles are in
/// degrees. Yaw is relative to the camera's yaw at the beginning of the shot, right positive; roll
/// and pitch are in the earth frame.
public struct ShotRecipe: Sendable, Equatable, Codable {
    /// Kind of the shot with its parameters.
    public enum Kind: Sendable, Equatable {
        /// The camera visits the key frames in the given order.
        case keyFrames
        /// Grid of pictures that together cover the panorama.
        case panorama(Panorama)
        /// Pictures at equal intervals on a path through the key frames.
        case timelapse(Timelapse)
        /// Pictures at equal steps of yaw around the camera.
        case orbit(Orbit)
    }

    /// Pose that the camera visits, with or without a photo.
    public struct KeyFrame: Sendable, Equatable, Codable {
        /// Orientation of the camera.
        public var pose: Pose
        /// Time for which the camera stays still before the photo, s, 0...3600.
        public var dwell: Double
        /// True if a photo is taken at this key frame.
        public var shoots: Bool

        /// Creates a key frame.
        public init(_ pose: Pose, dwell: Double = 0, shoots: Bool = true) {
            (self.pose, self.dwell, self.shoots) = (pose, dwell, shoots)
        }
    }

    /// Grid of pictures that together cover the panorama.
    public struct Panorama: Sendable, Equatable, Codable {
        /// Horizontal field of view of the camera, degrees, 5...170.
        public var fovWidth: Double
        /// Vertical field of view of the camera, degrees, 5...170.
        public var fovHeight: Double
        /// Width of the panorama, degrees of yaw, 0...360.
        public var width: Double
        /// Height of the panorama, degrees, 0...180.
        public var height: Double
        /// Centre of the panorama: pitch, degrees.
        public var pitch: Double
        /// Overlap of neighbouring pictures, as a fraction of a picture, 0...0.9.
        public var overlap: Double

        /// Creates a panorama.
        public init(
            fovWidth: Double, fovHeight: Double, width: Double = 180, height: Double = 60,
            pitch: Double = 0, overlap: Double = 0.3
        ) {
            (self.fovWidth, self.fovHeight, self.width) = (fovWidth, fovHeight, width)
            (self.height, self.pitch, self.overlap) = (height, pitch, overlap)
        }

        /// Field of view of the camera.
        public var camera: FieldOfView { FieldOfView(width: fovWidth, height: fovHeight) }

        /// The grid.
        public var grid: PanoramaGrid {
            PanoramaGrid(
                camera: camera, overlap: overlap, width: width,
                elevations: max(-90, pitch - height / 2)...min(90, pitch + height / 2))
        }
    }

    /// Pictures at equal intervals on a path through the key frames.
    public struct Timelapse: Sendable, Equatable, Codable {
        /// Number of photos, 2...100 000.
        public var photos: Int
        /// Time between photos, s, 0.2...86 400.
        public var interval: Double
        /// Number of photos over which corners of the path are rounded, 0...`photos`.
        public var smoothing: Int
        /// Duration of the acceleration, and of the braking, as a fraction of the shot, 0...0.5.
        public var ease: Double

        /// Creates a time-lapse.
        public init(photos: Int, interval: Double, smoothing: Int = 0, ease: Double = 0) {
            (self.photos, self.interval) = (photos, interval)
            (self.smoothing, self.ease) = (smoothing, ease)
        }
    }

    /// Pictures at equal steps of yaw around the camera.
    public struct Orbit: Sendable, Equatable, Codable {
        /// Number of photos, 2...10 000.
        public var photos: Int
        /// Angle from the first photo to the end of the turn, degrees, right positive,
        /// -3600...3600. If the turn is a whole number of circles, the last photo does not repeat
        /// the first one.
        public var turn: Double
        /// Pitch of the camera, degrees.
        public var pitch: Double

        /// Creates the parameters of an `orbit` shot.
        public init(photos: Int, turn: Double = 360, pitch: Double = 0) {
            (self.photos, self.turn, self.pitch) = (photos, turn, pitch)
        }
    }

    /// Conditions under which the camera counts as still.
    public struct Stillness: Sendable, Equatable, Codable {
        /// Largest attitude error, degrees, 0.001...10.
        public var error = 0.2
        /// Largest rate of the camera about each axis, deg/s, 0.01...100.
        public var rate = 1.0
        /// Time for which both conditions must be met, s, 0...60.
        public var seconds = 0.5
        /// Time after which a photo is taken even if the camera is not still, s, 0...3600. 0 means
        /// that the shot waits without limit.
        public var patience = 20.0

        /// Creates the default conditions.
        public init() {}
    }

    /// Kind of the shot.
    public var kind: Kind
    /// Key frames: attitudes of the photos for `keyFrames`, or points of the path for `timelapse`.
    public var frames: [KeyFrame]
    /// Largest rate of the camera between photos, deg/s, 0.1...720.
    public var rate = 30.0
    /// Conditions under which a photo is taken.
    public var still = Stillness()
    /// Shutter.
    public var shutter = ShutterSettings()

    /// Creates a shot.
    public init(_ kind: Kind, frames: [KeyFrame] = []) {
        (self.kind, self.frames) = (kind, frames)
    }
}

/// Shutter of a shot, and the decision about a photo that was possibly taken.
public struct ShutterSettings: Sendable, Equatable, Codable {
    /// Kind of a shutter.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// No shutter: the camera stays for `hold` at each waypoint.
        case none
        /// Command that takes a photo.
        case command
        /// Pulse on a GPIO line.
        case gpio
        /// airframe-eyes.
        case eyes
        /// MAVLink camera, over UDP.
        case mavlink
    }

    /// Decision about a photo that was possibly taken before the program ended.
    public enum Doubt: String, Sendable, Codable, CaseIterable {
        /// The photo is repeated: one photo can be taken twice, but no photo is missing.
        case `repeat`
        /// The photo is not repeated: one photo can be missing, but no photo is taken twice.
        case skip
    }

    /// Kind.
    public var kind = Kind.none
    /// Program and arguments of the command; `{file}`, `{number}`, `{yaw}`, `{roll}` and `{pitch}`
    /// are replaced.
    public var command: [String] = []
    /// Path of the photo's file, with the placeholder `{number}`; empty if the command does not
    /// write a file. If the file exists, the photo was taken.
    public var file = ""
    /// GPIO chip.
    public var chip = "/dev/gpiochip0"
    /// Number of the line on the GPIO chip.
    public var line = -1
    /// True if the line is active low.
    public var isActiveLow = false
    /// Duration of the pulse, s, 0.001...10.
    public var pulse = 0.2
    /// `HOST:PORT` of the MAVLink camera.
    public var address = ""
    /// System ID of the MAVLink camera, 1...255. The camera's component ID is 100.
    public var system = 1
    /// Time for which the camera stays after the shutter command, s, 0...3600: the exposure time.
    public var hold = 0.0
    /// Timeout of the shutter, s, 0.1...3600.
    public var timeout = 30.0
    /// Decision about a photo that was possibly taken.
    public var doubt = Doubt.repeat

    /// Creates a shutter that takes no photos.
    public init() {}
}
