import GimbalCore

extension Schema {
    /// What moves the set-point, and how.
    static let motion: [Setting] = [
        .triple(
            "motion.max_rate_dps", \.motion.maxRateDps, 0.1...2000, unit: "deg/s", .live,
            "Fastest that a set-point turns."),
        .triple(
            "motion.max_acceleration_dps2", \.motion.maxAccelerationDps2, 1...100_000,
            unit: "deg/s²", .live, "Hardest that a set-point speeds up or slows down."),
        .triple(
            "motion.max_jerk_dps3", \.motion.maxJerkDps3, 10...10_000_000, unit: "deg/s³", .live,
            "Fastest that the acceleration of a set-point changes."),
        .ranges(
            "motion.range_deg", \.motion.rangeDeg, -360...360, unit: "deg", .live,
            "Range of set-point angles in the earth frame; yaw of -360 to 360 turns without end."),
    ]

    /// What each mode does. In parts, since one expression of them all is too much for the type
    /// checker of Swift 6.2.
    static let modes: [Setting] = bootAndFollow + presets + trackingAndRetract

    private static let bootAndFollow: [Setting] = [
        .choice(
            "mode.boot", \.mode.boot,
            Mode.allCases.filter { $0 != .tracking }.map { ($0.name, $0) },
            unavailable: [
                Mode.tracking.name:
                    "at the start nobody sends the rates that tracking lives on, so that it would end within a second"
            ], .live,
            "Mode of the next start, after its checks; an AirOS app that saves stores its own here."
        ),
        .choice(
            "follow.preset", \.follow.preset, .live,
            "How briskly pan_follow, fpv and neutral follow the handle: which of the tables below is in force."
        ),
        .number(
            "follow.pan_dead_zone_deg", \.follow.panDeadZoneDeg, 0...90, unit: "deg", .live,
            "How far the handle turns in pan_follow, to either side, before yaw follows."),
        .triple(
            "follow.fpv_dead_zone_deg", \.follow.fpvDeadZoneDeg, 0...90, unit: "deg", .live,
            "How far the handle turns in fpv, to either side, before each axis follows."),
    ]

    private static let presets: [Setting] =
        pace("slow", \.follow.slow.maxRateDps, \.follow.slow.smoothingS)
        + pace("normal", \.follow.normal.maxRateDps, \.follow.normal.smoothingS)
        + pace("sport", \.follow.sport.maxRateDps, \.follow.sport.smoothingS)

    private static let trackingAndRetract: [Setting] = [
        .number(
            "tracking.max_rate_dps", \.tracking.maxRateDps, 1...360, unit: "deg/s", .live,
            "Largest pan and tilt rate in mode tracking; larger ones count as this."),
        .number(
            "tracking.pan_range_deg", \.tracking.panRangeDeg, 1...180, unit: "deg", .live,
            "How far pan goes to either side of where the handle points."),
        .number(
            "tracking.tilt_range_deg", \.tracking.tiltRangeDeg, 1...120, unit: "deg", .live,
            "How far tilt goes to either side of level."),
        .number(
            "tracking.timeout_s", \.tracking.timeoutS, 0.1...10, unit: "s", .live,
            "Silence after which mode tracking becomes locked; counts from the start of tracking too."
        ),
        .triple(
            "retract.joints_deg", \.retract.jointsDeg, -180...180, unit: "deg", .live,
            "Where the joints go in mode retract; within joints.range_deg."),
        .number(
            "retract.max_rate_dps", \.retract.maxRateDps, 1...360, unit: "deg/s", .live,
            "How fast they go there."),
        .choice(
            "retract.outputs", \.retract.outputs, .live,
            "What the motors do when the joints are there: hold them, or go off."),
    ]

    private static func pace(
        _ name: String, _ rate: Setting.Path<AxisVector>, _ smoothing: Setting.Path<AxisVector>
    ) -> [Setting] {
        [
            .triple(
                "follow.\(name).max_rate_dps", rate, 1...2000, unit: "deg/s", .live,
                "Fastest that each axis follows with this preset."),
            .triple(
                "follow.\(name).smoothing_s", smoothing, 0.02...10, unit: "s", .live,
                "How long each axis stays behind a steady turn with this preset."),
        ]
    }
}
