import GimbalCore
import Realtime
import Wire

/// What can be subscribed to: one line each. The values come from the loop's newest record.
struct VariableTable {
    private struct Entry: Sendable {
        let variable: Variable
        let read: @Sendable (TelemetryRecord) -> JSONValue
    }

    private static let entries: [Entry] = axes + estimator + state + timing

    /// The variables, in the order of their indices.
    static let variables: [Variable] = entries.map(\.variable)

    /// The value of one variable.
    static func value(_ index: Int, in record: TelemetryRecord) -> JSONValue {
        entries[index].read(record)
    }

    /// Three numbers, one per axis, under one heading.
    private static func perAxis(
        _ name: String, _ unit: String, _ summary: String,
        _ read: @escaping @Sendable (TelemetryRecord) -> AxisVector
    ) -> [Entry] {
        [
            entry("\(name).yaw", unit, "\(summary), yaw") { read($0).yaw },
            entry("\(name).roll", unit, "\(summary), roll") { read($0).roll },
            entry("\(name).pitch", unit, "\(summary), pitch") { read($0).pitch },
        ]
    }

    private static func entry(
        _ name: String, _ unit: String, _ summary: String,
        _ read: @escaping @Sendable (TelemetryRecord) -> Double
    ) -> Entry {
        Entry(variable: Variable(name: name, unit: unit, summary: summary)) { .double(read($0)) }
    }

    private static let degrees = 180 / Double.pi

    private static let axes: [Entry] =
        perAxis("attitude", "deg", "Estimated camera angle, Z-X-Y") {
            EulerZXY.angles($0.snapshot.attitude) * degrees
        }
        + perAxis("setpoint", "deg", "Commanded camera angle, Z-X-Y") {
            EulerZXY.angles($0.snapshot.setpoint) * degrees
        }
        + perAxis("target", "deg", "Where the set-point is going, Z-X-Y") {
            $0.snapshot.pointing.target * degrees
        }
        + perAxis("follow_error", "deg", "How far the set-point is behind the handle") {
            $0.snapshot.pointing.followError * degrees
        }
        + perAxis("error", "deg", "Rotation from attitude to set-point, camera axes") {
            $0.snapshot.attitudeError.perAxis * degrees
        }
        + perAxis("rate", "deg/s", "Angular rate of the camera, its own axes") {
            $0.snapshot.rate.perAxis * degrees
        }
        + perAxis("joint", "deg", "Joint angle") { $0.snapshot.joints * degrees }
        + perAxis("torque", "N·m", "Motor torque") { $0.snapshot.output.torque }
        + perAxis("inertia", "kg·m²", "Inertia about the camera's axes, found or given") {
            $0.snapshot.inertia
        }
        + perAxis("inertia_sigma", "%", "Standard deviation of the inertia; 0 is given") {
            $0.snapshot.inertiaSigma * 100
        }

        + perAxis(
            "friction", "N·m", "Sliding friction of the joint as learned; 0 = not compensated"
        ) {
            $0.snapshot.friction
        }
        + perAxis("imbalance", "g·m", "Mass times offset of the camera's centre of mass, learned") {
            $0.snapshot.imbalance.perAxis * 1e3
        }

    private static let estimator: [Entry] =
        perAxis("gyro_bias", "deg/s", "Estimated gyroscope bias") {
            $0.snapshot.bias.perAxis * degrees
        }
        + perAxis("gyro_bias_sigma", "deg/s", "Standard deviation of the gyroscope bias") {
            $0.snapshot.biasSigma.perAxis * degrees
        }
        + perAxis("gyro_scale", "%", "Estimated scale error of the gyroscope") {
            $0.snapshot.gyroScale.perAxis * 100
        }
        + perAxis("lever", "m", "From the point that the sensor turns about to the sensor") {
            $0.snapshot.lever.perAxis
        }
        + [
            entry("stride", "s", "Duration of the stride that the estimate uses; 0 = none") {
                $0.snapshot.stride
            },
            entry("accel.x", "m/s²", "Specific force, forward") { $0.snapshot.accel.x },
            entry("accel.y", "m/s²", "Specific force, right") { $0.snapshot.accel.y },
            entry("accel.z", "m/s²", "Specific force, down") { $0.snapshot.accel.z },
            entry("inclination_sigma", "deg", "Standard deviation of the inclination") {
                $0.snapshot.inclinationSigma * degrees
            },
            entry("heading_sigma", "deg", "Standard deviation of the heading against north") {
                $0.snapshot.headingSigma * degrees
            },
            entry("accel_weight", "", "Weight of the last accelerometer correction, 0...1") {
                $0.snapshot.accelerationWeight
            },
            entry("innovation", "", "RMS of the normalised innovation over a second") {
                $0.snapshot.innovation
            },
            Entry(
                variable: Variable(
                    name: "imu_temperature", unit: "°C",
                    summary: "Temperature of the sensor; null where it delivers none")
            ) {
                let temperature = $0.snapshot.temperature
                return temperature.isNaN ? .null : .double(temperature)
            },
            entry("vibration.accel", "m/s²", "RMS of the specific force above 31 Hz") {
                $0.snapshot.accelVibration
            },
            entry("vibration.gyro", "deg/s", "RMS of the rate above 31 Hz") {
                $0.snapshot.gyroVibration * degrees
            },
            entry("at_rest", "", "1 while the estimator sees rest") {
                $0.snapshot.isAtRest ? 1 : 0
            },
            entry("gyro_saturated", "", "1 while a gyroscope axis is at full scale") {
                $0.snapshot.isGyroSaturated ? 1 : 0
            },
            entry("gyro_saturated_samples", "", "Samples with the gyroscope at full scale") {
                Double($0.snapshot.samples.gyroSaturated)
            },
            entry("accel_clipped_samples", "", "Samples with the accelerometer at full scale") {
                Double($0.snapshot.samples.accelClipped)
            },
        ]

    private static let state: [Entry] = [
        Entry(variable: Variable(name: "mode", unit: "", summary: "Mode by name")) {
            .string($0.snapshot.mode.name)
        },
        entry("tracking_remaining", "s", "Time until mode tracking ends, 0 in other modes") {
            let seconds = $0.snapshot.pointing.trackingSeconds
            return seconds.isNaN ? 0 : seconds
        },
        Entry(variable: Variable(name: "state", unit: "", summary: "State of the outputs")) {
            .string($0.snapshot.phase.words)
        },
        Entry(
            variable: Variable(
                name: "conditions", unit: "", summary: "Names of everything that holds")
        ) { .array($0.snapshot.conditions.words.map { .string($0.name) }) },
        entry("authority", "", "Share of the output that reaches the motors, 0...1") {
            $0.snapshot.authority
        },
    ]

    private static let timing: [Entry] = [
        entry("tick", "", "Number of the tick") { Double($0.tick) },
        entry("timing.wake", "us", "Wake-up of the bus thread") { Double($0.timing.wake) / 1e3 },
        entry("timing.bus", "us", "Reading the sensors") { Double($0.timing.bus) / 1e3 },
        entry("timing.handover", "us", "From the bus thread to the loop") {
            Double($0.timing.handover) / 1e3
        },
        entry("timing.estimate", "us", "Requests, integration, estimate") {
            Double($0.timing.estimate) / 1e3
        },
        entry("timing.control", "us", "Supervision and control") {
            Double($0.timing.control) / 1e3
        },
        entry("timing.write", "us", "Writing the motors") { Double($0.timing.write) / 1e3 },
        entry("timing.imu_to_motor", "us", "From the sample to the written answer") {
            Double($0.timing.imuToMotor) / 1e3
        },
    ]
}
