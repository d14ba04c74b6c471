internal import CMathShim
internal import GimbalCore

/// Second-order Butterworth low-pass on three channels: the digital filter inside the sensor.
///
/// Group delay at low frequency: √2 / (2π corner), 0.98 ms at 230 Hz.
struct LowPass: Sendable {
    private let b0, b1, b2, a1, a2: Double
    private var in1 = Vector3.zero
    private var in2 = Vector3.zero
    private var out1 = Vector3.zero
    private var out2 = Vector3.zero
    private var isFirst = true
    private let isTransparent: Bool

    /// Creates a filter with the corner frequency `cornerHz`. If `cornerHz` is above 0.45 times
    /// `sampleRate`, values pass unfiltered.
    init(cornerHz: Double, sampleRate: Double) {
        isTransparent = cornerHz >= 0.45 * sampleRate
        let angle = isTransparent ? 0.1 : 2 * Double.pi * cornerHz / sampleRate
        let cosine = cm_cos(angle)
        let alpha = cm_sin(angle) / cm_sqrt(2)
        let a0 = 1 + alpha
        b1 = (1 - cosine) / a0
        b0 = b1 / 2
        b2 = b0
        a1 = -2 * cosine / a0
        a2 = (1 - alpha) / a0
    }

    /// Filters one value. The initial state of the filter is its steady state for the first value.
    mutating func step(_ value: Vector3) -> Vector3 {
        if isTransparent { return value }
        if isFirst {
            isFirst = false
            in1 = value
            in2 = value
            out1 = value
            out2 = value
        }
        let out = Vector3(
            b0 * value.x + b1 * in1.x + b2 * in2.x - a1 * out1.x - a2 * out2.x,
            b0 * value.y + b1 * in1.y + b2 * in2.y - a1 * out1.y - a2 * out2.y,
            b0 * value.z + b1 * in1.z + b2 * in2.z - a1 * out1.z - a2 * out2.z)
        in2 = in1
        in1 = value
        out2 = out1
        out1 = out
        return out
    }
}
