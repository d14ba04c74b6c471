public import GimbalCore
internal import CMathShim

/// Settings of the motors' wiring: assignment of outputs to joints, directions, and ratios. The
/// type computes the correct settings from the test results of all motors.
public struct MotorAssignment: Sendable, Equatable {
    /// Output number or identifier of each joint's motor.
    public var outputs: AxisVector
    /// Direction of each motor, 1 or -1.
    public var direction: AxisVector
    /// Number of pole pairs, the same for all motors; used for motors without encoders.
    public var polePairs = 7
    /// Travel of each servo, degrees.
    public var travel = AxisVector(repeating: 90)
    /// Pulse offset of each servo, µs.
    public var trim = AxisVector.zero
    /// Shortest pulse of each servo, µs.
    public var shortest = AxisVector(repeating: 1000)
    /// Longest pulse of each servo, µs.
    public var longest = AxisVector(repeating: 2000)
    /// Reading of the encoder in each motor's drive at joint angle zero, degrees.
    public var zero = AxisVector.zero

    /// Largest relative difference at which two ratios are treated as equal.
    private static let tolerance = 0.08
    /// Largest accepted deviation of a measured number of pole pairs from a whole number.
    private static let poleDistance = 0.3
    /// Largest relative difference at which measured and configured travel are treated as equal. If
    /// the difference is larger, the measured travel is rounded to 10°.
    private static let travelTolerance = 0.15

    /// Creates settings with the given outputs and directions, and with defaults for all other
    /// values.
    public init(outputs: AxisVector, direction: AxisVector) {
        self.outputs = outputs
        self.direction = direction
    }

    /// Computes the settings that give each joint its motor, direction and ratio.
    ///
    /// - Parameters:
    ///   - findings: Result for each tested motor; the key is the joint to which the motor is
    ///     assigned now.
    ///   - type: Type of the motors.
    /// - Returns: The correct settings; equal to `self` if the wiring matches them.
    /// - Throws: `MotorProblem` if two motors turn the same joint, or a ratio is implausible.
    public func corrected(
        by findings: [GimbalAxis: MotorMotion.Finding], type: MotorType
    ) throws(MotorProblem) -> MotorAssignment {
        guard Set(findings.values.map(\.axis)).count == findings.count else { throw .sameAxis }
        // A joint that no tested motor turns keeps its motor, unless this motor turns another joint.
        var right = self
        for (assigned, finding) in findings {
            right.outputs[finding.axis] = outputs[assigned]
            right.direction[finding.axis] = direction[assigned] * finding.direction
            right.travel[finding.axis] = travel[assigned]
            right.trim[finding.axis] = trim[assigned]
            right.shortest[finding.axis] = shortest[assigned]
            right.longest[finding.axis] = longest[assigned]
            right.zero[finding.axis] = zero[assigned]
        }
        switch type {
        case .torque: break
        case .field:
            right.polePairs = try poles(findings.values.map(\.ratio))
        case .servo:
            for (assigned, finding) in findings {
                let old = travel[assigned]
                let measured = old * finding.ratio
                guard (1.0 / 3...3).contains(finding.ratio) else { throw .implausibleTravel }
                if abs(measured / old - 1) > Self.travelTolerance {
                    right.travel[finding.axis] = cm_floor(measured / 10 + 0.5) * 10
                }
            }
        }
        return right
    }

    /// Number of pole pairs from the ratios of all motors. The median is used, because friction or
    /// imbalance can falsify the ratio of one motor.
    private func poles(_ ratios: [Double]) throws(MotorProblem) -> Int {
        let configured = Double(polePairs)
        let sorted = ratios.sorted()
        guard let least = sorted.first, let most = sorted.last, least > 0 else { return polePairs }
        guard most / least < 1.25 else { throw .unclearPoles }
        let median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        if abs(median - 1) < Self.tolerance { return polePairs }
        let measured = configured / median
        let whole = cm_floor(measured + 0.5)
        guard abs(measured - whole) < Self.poleDistance, (1...50).contains(whole) else {
            throw .unclearPoles
        }
        return Int(whole)
    }
}
