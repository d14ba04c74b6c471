/// Limits of the unintended motion of random gimbals. Each limit is 1.5 times the best measured
/// result, and at least 0.1°. The best result was measured with four gimbals of each motor type,
/// with even seeds. A run that exceeds a limit therefore shows that a change has made the
/// controller worse. Each result consists of two values: the 90 % quantile of the motion over all
/// runs, and the largest motion. The limits of `FaultRun.Fault` apply to a phone-sized camera; many
/// of the random gimbals exceed those limits. There are no limits for motors without encoders,
/// because a random gimbal with these motors often turns over even without a fault.
enum DrawnBars {
    /// Limits of the unintended motion, degrees: 90 % quantile and maximum over the runs; nil if no
    /// measurement exists for this group and fault.
    static func bars(group: String, fault: FaultRun.Fault) -> (p90: Double, worst: Double)? {
        guard let measured = measured[group]?[fault.rawValue] else { return nil }
        return (bar(measured.p90), bar(measured.worst))
    }

    private static func bar(_ measured: Double) -> Double {
        max(0.1, 1.5 * measured)
    }

    private static let measured: [String: [String: (p90: Double, worst: Double)]] = [
        "random, torque, still": [
            "gyroscope: 500 °/s for 100 ms": (8.08, 8.72),
            "gyroscope: stuck at 50 °/s": (14.97, 19.0),
            "gyroscope: stuck at zero": (13.82, 14.14),
            "gyroscope: stuck at its last value": (13.43, 14.63),
            "gyroscope: one sample of 30 rad/s": (0.09, 7.7),
            "gyroscope: 10 x 30 rad/s, 20 ms apart": (4.7, 12.34),
            "gyroscope: reversed sign": (15.75, 22.59),
            "accelerometer: stuck at its last value": (4.61, 5.19),
            "accelerometer: sideways for 5 s": (3.07, 3.64),
            "plant: inertia falls to 1/3": (1.21, 1.82),
            "plant: inertia rises to 3 x": (0.17, 0.34),
            "plant: 5 ms more delay": (1.06, 8.7),
            "plant: 5 ms less delay": (0.88, 1.68),
            "plant: 250 samples/s, 1000 ticks/s": (0.54, 2.03),
            "plant: saved inertia 4 x true": (0.5, 1.06),
            "plant: saved inertia 1/3 x true": (0.27, 0.42),
        ],
        "random, torque, walking": [
            "gyroscope: 500 °/s for 100 ms": (9.44, 11.67),
            "gyroscope: stuck at 50 °/s": (16.84, 20.18),
            "gyroscope: stuck at zero": (15.81, 16.05),
            "gyroscope: stuck at its last value": (15.2, 15.82),
            "gyroscope: one sample of 30 rad/s": (0.02, 9.44),
            "gyroscope: 10 x 30 rad/s, 20 ms apart": (5.8, 10.83),
            "gyroscope: reversed sign": (23.98, 54.54),
            "accelerometer: stuck at its last value": (5.24, 6.92),
            "accelerometer: sideways for 5 s": (4.47, 6.2),
            "plant: inertia falls to 1/3": (3.91, 7.04),
            "plant: inertia rises to 3 x": (0.25, 0.31),
            "plant: 5 ms more delay": (3.31, 16.6),
            "plant: 5 ms less delay": (1.08, 1.6),
            "plant: 250 samples/s, 1000 ticks/s": (0.46, 1.14),
            "plant: saved inertia 4 x true": (0.65, 1.04),
            "plant: saved inertia 1/3 x true": (0.29, 1.33),
        ],
        "random, servo, still": [
            "gyroscope: 500 °/s for 100 ms": (0.34, 0.45),
            "gyroscope: stuck at 50 °/s": (3.07, 3.33),
            "gyroscope: stuck at zero": (0.28, 0.35),
            "gyroscope: stuck at its last value": (0.28, 0.35),
            "gyroscope: one sample of 30 rad/s": (0.24, 0.43),
            "gyroscope: 10 x 30 rad/s, 20 ms apart": (0.31, 0.65),
            "gyroscope: reversed sign": (4.6, 5.37),
            "accelerometer: stuck at its last value": (0.12, 0.3),
            "accelerometer: sideways for 5 s": (0.85, 1.06),
            "plant: inertia falls to 1/3": (0.0, 0.0),
            "plant: inertia rises to 3 x": (0.0, 0.0),
            "plant: 5 ms more delay": (3.14, 3.83),
            "plant: 5 ms less delay": (0.55, 0.65),
            "plant: 250 samples/s, 1000 ticks/s": (0.52, 0.53),
        ],
        "random, servo, walking": [
            "gyroscope: 500 °/s for 100 ms": (58.44, 63.21),
            "gyroscope: stuck at 50 °/s": (3.45, 3.62),
            "gyroscope: stuck at zero": (1.57, 2.07),
            "gyroscope: stuck at its last value": (2.81, 3.04),
            "gyroscope: one sample of 30 rad/s": (1.17, 1.31),
            "gyroscope: 10 x 30 rad/s, 20 ms apart": (0.97, 1.31),
            "gyroscope: reversed sign": (21.69, 32.6),
            "accelerometer: stuck at its last value": (1.28, 1.65),
            "accelerometer: sideways for 5 s": (2.31, 2.64),
            "plant: inertia falls to 1/3": (0.0, 0.0),
            "plant: inertia rises to 3 x": (0.0, 0.0),
            "plant: 5 ms more delay": (6.44, 7.73),
            "plant: 5 ms less delay": (2.7, 3.72),
            "plant: 250 samples/s, 1000 ticks/s": (1.38, 2.17),
        ],
    ]
}
