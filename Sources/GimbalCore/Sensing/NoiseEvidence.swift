/// Test whether a sensor has noise. Identical samples mean a frozen sensor only if the sensor has
/// noise.
///
/// With white noise, the difference of two consecutive samples changes its sign in two of three
/// cases. With low-passed noise, the difference changes its sign in well over half of the cases.
/// Without noise, sign changes are rarer on at least one of the six axes, even during violent
/// motion. Runs on the loop thread, in constant time.
struct NoiseEvidence: Sendable, BitwiseCopyable {
    /// Number of differences between consecutive samples that one test evaluates.
    private static var window: Int32 { @_noLocks get { 250 } }
    /// Smallest fraction of sign changes between consecutive differences, on every axis, for a
    /// sensor with noise.
    private static var share: Double { @_noLocks get { 0.4 } }

    /// True if a test has found noise on all axes since start-up.
    private(set) var isNoisy = false
    private var gyroStep = Vector3.zero
    private var accelStep = Vector3.zero
    private var gyroTurns = Vector3.zero
    private var accelTurns = Vector3.zero
    private var count: Int32 = 0

    @_noLocks
    init() {}

    /// Updates the test with the gyroscope's change, rad/s, and the accelerometer's change, m/s²,
    /// between two consecutive samples.
    @_noLocks
    mutating func add(gyro: Vector3, accel: Vector3) {
        guard !isNoisy else { return }
        gyroTurns += Self.turns(gyroStep, gyro)
        accelTurns += Self.turns(accelStep, accel)
        (gyroStep, accelStep) = (gyro, accel)
        count += 1
        guard count >= Self.window else { return }
        let enough = Self.share * Double(Self.window)
        isNoisy = Self.isAll(gyroTurns, atLeast: enough) && Self.isAll(accelTurns, atLeast: enough)
        count = 0
        gyroTurns = .zero
        accelTurns = .zero
    }

    private static func turns(_ a: Vector3, _ b: Vector3) -> Vector3 {
        Vector3(a.x * b.x < 0 ? 1 : 0, a.y * b.y < 0 ? 1 : 0, a.z * b.z < 0 ? 1 : 0)
    }

    private static func isAll(_ v: Vector3, atLeast limit: Double) -> Bool {
        v.x >= limit && v.y >= limit && v.z >= limit
    }
}
