/// Whether a sensor has noise of its own, so that samples identical to the bit would mean that it
/// is frozen.
///
/// From one sample to the next white noise turns round two times out of three, also behind a
/// low-pass well more than every other time; motion, however hard it shakes, does not do that on
/// all six axes at once. Loop thread; constant time.
struct NoiseEvidence: Sendable, BitwiseCopyable {
    /// Differences that are looked at together.
    private static var window: Int32 { @_noLocks get { 250 } }
    /// The share of them that has to turn round on every axis.
    private static var share: Double { @_noLocks get { 0.4 } }

    /// Whether noise has been seen on all axes, ever.
    private(set) var isNoisy = false
    private var gyroStep = Vector3.zero
    private var accelStep = Vector3.zero
    private var gyroTurns = Vector3.zero
    private var accelTurns = Vector3.zero
    private var count: Int32 = 0

    @_noLocks
    init() {}

    /// Looks at how two samples that follow each other differ, rad/s and m/s².
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
