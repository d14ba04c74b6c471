import GimbalCore

extension Schema {
    /// Limits of the set-point's rate, acceleration and jerk.
    static let motion: [Setting] = [
        .triple(
            "motion.max_rate_dps", \.motion.maxRateDps, 0.1...2000, unit: "deg/s", .live,
            "Highest rate of the set-point, which is the attitude that the camera follows."
        ).assistants(.lower),
        .triple(
            "motion.max_acceleration_dps2", \.motion.maxAccelerationDps2, 1...100_000,
            unit: "deg/s²", .live, "Highest acceleration and deceleration of the set-point."
        ).assistants(.lower),
        .triple(
            "motion.max_jerk_dps3", \.motion.maxJerkDps3, 10...10_000_000, unit: "deg/s³", .live,
            "Highest jerk of the set-point (change of acceleration per second)."
        ).assistants(.lower),
        .ranges(
            "motion.range_deg", \.motion.rangeDeg, -360...360, unit: "deg", .live,
            "Range of set-point angles in the earth frame; a yaw range of -360 to 360 means unlimited yaw."
        ),
    ]

    /// Settings of the modes. The list of settings is divided into parts, because Swift 6.2 cannot
    /// check the types of one long expression.
    static let modes: [Setting] = bootAndFollow + presets + pushing + trackingAndRetract

    private static let bootAndFollow: [Setting] = [
        .choice(
            "mode.boot", \.mode.boot,
            Mode.allCases.filter { $0 != .tracking }.map { ($0.name, $0) },
            unavailable: [
                Mode.tracking.name:
                    "the mode \"tracking\" would end within a second, because no app sends rates when airframed starts"
            ], .live,
            "Mode at the next start, after the start-up checks; when an AirOS app saves, airframed stores the present mode in this setting."
        ),
        .choice(
            "follow.preset", \.follow.preset, .live,
            "Preset of dead zones, rates and lags for the modes pan_follow, fpv and neutral: the table [follow.cinema], [follow.slow], [follow.normal], [follow.sport] or [follow.lock]."
        ),
        .number(
            "follow.pan_dead_zone_deg", \.follow.panDeadZoneDeg, -1...90, unit: "deg", .live,
            "Dead zone in mode \"pan_follow\" with every preset; a negative value selects the dead zone of the preset."
        ).assistants(.any),
        .triple(
            "follow.fpv_dead_zone_deg", \.follow.fpvDeadZoneDeg, -1...90, unit: "deg", .live,
            "Dead zone of each axis in mode \"fpv\" with every preset; a negative value selects the dead zone of the preset."
        ).assistants(.any),
    ]

    private static let presets: [Setting] = [
        pace(
            "cinema", \.follow.cinema.maxRateDps, \.follow.cinema.smoothingS,
            \.follow.cinema.panDeadZoneDeg, \.follow.cinema.fpvDeadZoneDeg),
        pace(
            "slow", \.follow.slow.maxRateDps, \.follow.slow.smoothingS,
            \.follow.slow.panDeadZoneDeg, \.follow.slow.fpvDeadZoneDeg),
        pace(
            "normal", \.follow.normal.maxRateDps, \.follow.normal.smoothingS,
            \.follow.normal.panDeadZoneDeg, \.follow.normal.fpvDeadZoneDeg),
        pace(
            "sport", \.follow.sport.maxRateDps, \.follow.sport.smoothingS,
            \.follow.sport.panDeadZoneDeg, \.follow.sport.fpvDeadZoneDeg),
        pace(
            "lock", \.follow.lock.maxRateDps, \.follow.lock.smoothingS,
            \.follow.lock.panDeadZoneDeg, \.follow.lock.fpvDeadZoneDeg),
    ].flatMap(\.self)

    private static let pushing: [Setting] = [
        .bool(
            "push.enabled", \.push.enabled, .live,
            "If true, you can turn the camera by hand in the modes locked and pan_follow, and the camera keeps the new direction; needs motors.type = \"torque\" and encoders."
        ),
        .number(
            "push.threshold_percent", \.push.thresholdPercent, 20...90, unit: "%", .live,
            "Torque above which airframed recognises a push by hand, in per cent of motors.torque_limit_nm. Less torque, for example from wind, does not turn the camera."
        ),
        .number(
            "push.max_rate_dps", \.push.maxRateDps, 5...180, unit: "deg/s", .live,
            "Highest rate at which the camera follows a hand that pushes it."
        ).assistants(.lower),
    ]

    private static let trackingAndRetract: [Setting] = [
        .number(
            "tracking.max_rate_dps", \.tracking.maxRateDps, 1...360, unit: "deg/s", .live,
            "Largest pan and tilt rate in mode \"tracking\"; airframed limits larger rates to this value."
        ).assistants(.lower),
        .number(
            "tracking.pan_range_deg", \.tracking.panRangeDeg, 1...180, unit: "deg", .live,
            "Largest pan angle in mode \"tracking\", to each side of the handle's direction."),
        .number(
            "tracking.tilt_range_deg", \.tracking.tiltRangeDeg, 1...120, unit: "deg", .live,
            "Largest tilt angle in mode \"tracking\", above and below level."),
        .number(
            "tracking.timeout_s", \.tracking.timeoutS, 0.1...10, unit: "s", .live,
            "Timeout of mode \"tracking\": if the app sends no tracking rate for this time, the mode changes to \"locked\". Each rate, and the start of mode \"tracking\", restart the timeout."
        ).assistants(.lower),
        .triple(
            "retract.joints_deg", \.retract.jointsDeg, -180...180, unit: "deg", .live,
            "Joint angles in mode \"retract\"; they must be within joints.range_deg."),
        .number(
            "retract.max_rate_dps", \.retract.maxRateDps, 1...360, unit: "deg/s", .live,
            "Highest rate of the joints while they move to retract.joints_deg."
        ).assistants(.lower),
        .choice(
            "retract.outputs", \.retract.outputs, .live,
            "State of the motors after the joints have reached retract.joints_deg: \"hold\" = the motors stay on, \"off\" = airframed turns the motors off."
        ),
    ]

    private static func pace(
        _ name: String, _ rate: Setting.Path<AxisVector>, _ smoothing: Setting.Path<AxisVector>,
        _ panZone: Setting.Path<Double>, _ fpvZone: Setting.Path<AxisVector>
    ) -> [Setting] {
        [
            .triple(
                "follow.\(name).max_rate_dps", rate, 1...2000, unit: "deg/s", .live,
                "Highest rate of each axis with this preset."
            ).assistants(.lower),
            .triple(
                "follow.\(name).smoothing_s", smoothing, 0.02...10, unit: "s", .live,
                "Lag of each axis behind the handle, with this preset, while the handle turns at a constant rate."
            ).assistants(.raise),
            .number(
                "follow.\(name).pan_dead_zone_deg", panZone, 0...90, unit: "deg", .live,
                "Dead zone in mode \"pan_follow\" with this preset: angle by which the handle can turn to either side before yaw follows."
            ).assistants(.any),
            .triple(
                "follow.\(name).fpv_dead_zone_deg", fpvZone, 0...90, unit: "deg", .live,
                "Dead zone in mode \"fpv\" with this preset: angle by which the handle can turn to either side before an axis follows."
            ).assistants(.any),
        ]
    }
}
