public import GimbalCore

/// Calibration of a phone that is mounted on the camera. The gimbal turns in steps. After each
/// step, the attitudes of phone and camera are recorded at rest. Therefore the delay of the phone's
/// poses has no effect on the result.
public struct GuidedTurn {
    /// Functions that access the gimbal, the phone and the clock; tests replace them.
    public struct Dependencies {
        /// Turns the camera to the given angles. The angles are relative to the camera's first
        /// attitude, in degrees, right and up positive. The function returns when the camera is at
        /// rest.
        public var turn: (_ yaw: Double, _ pitch: Double) throws -> Void
        /// Attitude of the gimbal's camera, body to earth.
        public var camera: () throws -> Quaternion
        /// Newest pose of the phone, and the number of poses that were read; nil if the phone has
        /// disconnected.
        public var phone: () throws -> (pose: DevicePose, poses: Int)?
        /// Waits for the given time, s.
        public var wait: (_ seconds: Double) -> Void
        /// Function that receives messages about the progress.
        public var log: (_ sentence: String) -> Void

        /// Creates an instance with the given functions.
        public init(
            turn: @escaping (_ yaw: Double, _ pitch: Double) throws -> Void,
            camera: @escaping () throws -> Quaternion,
            phone: @escaping () throws -> (pose: DevicePose, poses: Int)?,
            wait: @escaping (_ seconds: Double) -> Void,
            log: @escaping (_ sentence: String) -> Void
        ) {
            self.turn = turn
            self.camera = camera
            self.phone = phone
            self.wait = wait
            self.log = log
        }
    }

    /// Reason why a calibration failed, with a remedy.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// Reason and remedy, in complete sentences.
        public let description: String

        /// Creates a failure.
        public init(description: String) { self.description = description }
    }

    /// Angles of the camera in each step, relative to the camera's first attitude, degrees.
    static let steps: [(yaw: Double, pitch: Double)] = [
        (0, 0), (30, 0), (30, 20), (0, 20), (-30, 20), (-30, 0), (-30, -20), (0, -20), (30, -20),
    ]
    /// Number of poses to wait for after a step. The last of these poses was measured while the
    /// phone was at rest.
    static let freshPoses = 3
    /// Longest wait for the poses after a step, s.
    static let patience = 5.0
    /// Largest permitted distance of the phone from its mean position, m.
    static let reach = 0.5

    private let dependencies: Dependencies

    /// Creates a calibration that uses the given functions.
    public init(_ dependencies: Dependencies) { self.dependencies = dependencies }

    /// Executes the calibration. At the end the camera turns back to its first attitude, even after
    /// a failure.
    ///
    /// - Returns: The rotations `mounting` and `dependencies`, and the phone's mean position in its dependencies
    ///   frame, m.
    /// - Throws: `Failure`, or an error from one of the functions in `Dependencies`.
    public func run() throws -> (result: HandEye, position: Vector3) {
        var pairs: [HandEye.Pair] = []
        var positions: [Vector3] = []
        do {
            for (index, step) in Self.steps.enumerated() {
                dependencies.log(
                    "step \(index + 1) of \(Self.steps.count): yaw \(Int(step.yaw))°, pitch \(Int(step.pitch))°"
                )
                try dependencies.turn(step.yaw, step.pitch)
                let pose = try freshPose()
                pairs.append(.init(camera: try dependencies.camera(), phone: pose.rotation))
                positions.append(pose.position)
            }
        } catch {
            try? dependencies.turn(0, 0)
            throw error
        }
        try dependencies.turn(0, 0)
        let mean = positions.reduce(Vector3.zero, +) / Double(positions.count)
        guard positions.allSatisfy({ ($0 - mean).norm <= Self.reach }) else {
            throw Failure(
                description:
                    "The phone's position moved by more than \(Self.reach) m. Fasten the phone to the camera, and make sure that the phone's camera sees a room with visible details."
            )
        }
        do throws(HandEye.Failure) {
            return (try HandEye(pairs), mean)
        } catch {
            throw Failure(description: Self.sentence(error))
        }
    }

    private func freshPose() throws -> DevicePose {
        var first: Int?
        var waited = 0.0
        while waited < Self.patience {
            guard let (pose, poses) = try dependencies.phone() else {
                throw Failure(description: "The phone has disconnected. Connect it again.")
            }
            let beginning = first ?? poses
            first = beginning
            if poses >= beginning + Self.freshPoses { return pose }
            dependencies.wait(0.05)
            waited += 0.05
        }
        throw Failure(
            description: "The phone sends no pictures. Keep HawkSight open and in the foreground.")
    }

    private static func sentence(_ failure: HandEye.Failure) -> String {
        switch failure {
        case .tooFew: "Too few attitudes of the phone were received. Repeat the calibration."
        case .oneAxis:
            "The phone did not turn about two axes. Fasten the phone to the camera, and check that yaw and pitch can move."
        case .inconsistent(let residual):
            "The phone's rotation differs from the camera's rotation by \(Int((residual * 180 / .pi).rounded()))°. Fasten the phone firmly to the camera, and check aerie.camera_axes."
        }
    }
}
