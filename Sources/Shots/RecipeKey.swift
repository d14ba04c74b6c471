/// Declaration of a numeric key in a shot's description. Files and programs that offer shots use
/// the same declarations.
public struct RecipeKey: Sendable, Equatable {
    /// Key in its table of the file, such as `overlap`.
    public let name: String
    /// Meaning of the number, as a noun phrase without a full stop.
    public let summary: String
    /// Unit as text; empty for a number without a unit.
    public let unit: String
    /// Permitted values.
    public let range: ClosedRange<Double>
    /// Default; nil if the number is required.
    public let usual: Double?
    /// True if the number must be an integer.
    public let isWhole: Bool

    init(
        _ name: String, _ summary: String, _ unit: String = "", in range: ClosedRange<Double>,
        usual: Double? = nil, isWhole: Bool = false
    ) {
        (self.name, self.summary, self.unit) = (name, summary, unit)
        (self.range, self.usual, self.isWhole) = (range, usual, isWhole)
    }

    /// Checks that a value is within the range.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - table: Table that contains the key, for the message; empty for the top level.
    /// - Throws: `RecipeProblem` if the value is NaN or outside the range.
    func check(_ value: Double, in table: String = "") throws(RecipeProblem) {
        guard !range.contains(value) else { return }
        throw RecipeProblem(key: table.isEmpty ? name : "\(table).\(name)", value, outside: range)
    }
}

extension ShotRecipe {
    /// Declaration of `rate_dps`.
    public static let rateKey = RecipeKey(
        "rate_dps", "largest turn rate between photos", "degrees per second", in: 0.1...720,
        usual: 30)
}

extension ShotRecipe.KeyFrame {
    static let yaw = RecipeKey(
        "yaw", "yaw relative to the yaw at the beginning, right positive", "degrees",
        in: -180...180,
        usual: 0)
    static let roll = RecipeKey(
        "roll", "roll, right positive", "degrees", in: -180...180, usual: 0)
    static let pitch = RecipeKey("pitch", "pitch, up positive", "degrees", in: -180...180, usual: 0)
    static let dwell = RecipeKey(
        "dwell_s", "pause before the photo", "seconds", in: 0...3600, usual: 0)

    /// Declarations of the numeric keys in `[[frame]]`.
    public static let keys = [yaw, roll, pitch, dwell]
}

extension ShotRecipe.Panorama {
    static let fovWidth = RecipeKey(
        "fov_width", "horizontal field of view of the camera", "degrees", in: 5...170)
    static let fovHeight = RecipeKey(
        "fov_height", "vertical field of view of the camera", "degrees", in: 5...170)
    static let width = RecipeKey(
        "width", "width of the panorama", "degrees", in: 0...360, usual: 180)
    static let height = RecipeKey(
        "height", "height of the panorama", "degrees", in: 0...180, usual: 60)
    static let pitch = RecipeKey(
        "pitch", "pitch of the centre, up positive", "degrees", in: -90...90, usual: 0)
    static let overlap = RecipeKey(
        "overlap", "overlap of neighbouring photos, as a fraction of the picture", in: 0...0.9,
        usual: 0.3)

    /// Declarations of the numeric keys in `[panorama]`.
    public static let keys = [fovWidth, fovHeight, width, height, pitch, overlap]
}

extension ShotRecipe.Timelapse {
    static let photos = RecipeKey(
        "photos", "number of photos", in: 2...100_000, isWhole: true)
    static let interval = RecipeKey(
        "interval_s", "time between photos", "seconds", in: 0.2...86_400)
    static let smoothing = RecipeKey(
        "smoothing", "number of photos over which corners of the path are rounded", in: 0...100_000,
        usual: 0, isWhole: true)
    static let ease = RecipeKey(
        "ease", "fraction of the shot for acceleration, and the same fraction for braking",
        in: 0...0.5,
        usual: 0)

    /// Declarations of the numeric keys in `[timelapse]`.
    public static let keys = [photos, interval, smoothing, ease]
}

extension ShotRecipe.Orbit {
    static let photos = RecipeKey("photos", "number of photos", in: 2...10_000, isWhole: true)
    static let turn = RecipeKey(
        "turn", "angle of the turn, right positive", "degrees", in: -3600...3600, usual: 360)
    static let pitch = RecipeKey("pitch", "pitch, up positive", "degrees", in: -180...180, usual: 0)

    /// Declarations of the numeric keys in `[orbit]`.
    public static let keys = [photos, turn, pitch]
}

extension ShutterSettings {
    static let hold = RecipeKey(
        "hold_s", "time for which the camera stays after the shutter command", "seconds",
        in: 0...3600, usual: 0)
    static let line = RecipeKey(
        "gpio_line", "number of the line on the GPIO chip", in: -1...1023, usual: -1, isWhole: true)
}
