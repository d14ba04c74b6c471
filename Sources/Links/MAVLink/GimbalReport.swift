import Configuration
import GimbalCore
import Glibc
import Wire

/// State of the gimbal, converted to MAVLink's units and flags.
struct GimbalReport {
    let snapshot: StabilizerSnapshot
    /// Heading and turn rate of the vehicle.
    let vehicle: VehicleHeading
    /// True if the gimbal is also the gimbal manager.
    let isManager: Bool
    /// Time since the start of airframed, ms.
    let bootMs: UInt32
    /// Range that requests can reach: the set-points that are permitted and that the joints can
    /// reach, degrees.
    private let range: AxisRanges
    /// Permitted range of the joint angles, degrees.
    private let jointRange: AxisRanges

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - snapshot: The newest snapshot of the loop; nil before the first sample.
    ///   - settings: Settings in force.
    ///   - vehicle: Heading and turn rate of the vehicle.
    ///   - isManager: True if the gimbal is also the gimbal manager.
    ///   - bootMs: Time since the start of airframed, ms.
    init(
        snapshot: StabilizerSnapshot?, settings: Settings, vehicle: VehicleHeading,
        isManager: Bool, bootMs: UInt32
    ) {
        self.snapshot = snapshot ?? StabilizerSnapshot()
        self.vehicle = vehicle
        self.isManager = isManager
        self.bootMs = bootMs
        jointRange = settings.reachableJointsDeg
        range = settings.motion.rangeDeg.intersection(jointRange)
    }

    /// Heading relative to north minus heading in the loop's frame, rad; nil if unknown.
    private var north: Double? { vehicle.north }

    /// Flags of the gimbal's state. Roll and pitch are held relative to the horizon in every mode
    /// except `fpv`.
    var flags: GimbalFlags {
        var flags: GimbalFlags =
            switch snapshot.mode {
            case .inactive, .locked, .tracking: [.rollLock, .pitchLock, .yawLock]
            case .panFollow: [.rollLock, .pitchLock]
            case .fpv: []
            case .neutral: [.neutral, .rollLock, .pitchLock]
            case .retract: [.retract]
            }
        flags.insert(isVehicleKnown ? .yawInVehicleFrame : .yawInEarthFrame)
        if north != nil { flags.insert(.acceptsYawInEarthFrame) }
        return flags
    }

    private var isVehicleKnown: Bool { VehicleHeading.heading(in: snapshot) != nil }

    var heartbeat: Heartbeat {
        var message = Heartbeat()
        message.type = 26
        message.autopilot = 8
        message.customMode = UInt32(snapshot.mode.rawValue)
        message.baseMode = snapshot.output.enabled ? 128 : 0
        message.status = state
        message.version = 3
        return message
    }

    /// State of the gimbal, as a value of MAV_STATE.
    private var state: UInt8 {
        let conditions = snapshot.conditions
        if conditions.intersects(.emergencyStop) { return 6 }
        if conditions.intersects(.calibrating) { return 2 }
        if case .inactive = snapshot.mode { return 3 }
        if snapshot.output.enabled { return 4 }
        // A retracted camera rests at a user's request, as in the mode `inactive`.
        let faults = conditions.intersection(Supervisor.inhibiting)
            .subtracting(Supervisor.wishes)
        if conditions.intersects(.retracted), faults.isEmpty { return 3 }
        return conditions.intersects(.estimateNotConverged) ? 1 : 5
    }

    var attitude: AttitudeReport {
        var message = AttitudeReport()
        let q = snapshot.attitude
        message.bootMs = bootMs
        let angles = q.angles321
        message.roll = Float(angles.roll)
        message.pitch = Float(angles.pitch)
        message.yaw = Float((angles.yaw + (north ?? 0)).remainder(dividingBy: 2 * .pi))
        message.rollSpeed = Float(snapshot.rate.x)
        message.pitchSpeed = Float(snapshot.rate.y)
        message.yawSpeed = Float(snapshot.rate.z)
        return message
    }

    var headUp: VFRHUD {
        var message = VFRHUD()
        let yaw = Angle.radians(snapshot.attitude.angles321.yaw + (north ?? 0)).degrees
        let heading = yaw.remainder(dividingBy: 360).rounded()
        message.heading = Int16(heading < 0 ? heading + 360 : heading)
        return message
    }

    var deviceStatus: GimbalDeviceAttitudeStatus {
        var message = GimbalDeviceAttitudeStatus()
        let heading = VehicleHeading.heading(in: snapshot)
        let turn = heading.map { Quaternion.aboutZ(-$0) } ?? .aboutZ(north ?? 0)
        let q = turn * snapshot.attitude
        message.bootMs = bootMs
        message.q = [q.w, q.x, q.y, q.z].map(Float.init)
        // The rates are in the same frame as the attitude. Without a report of the vehicle's turn
        // rate, the vehicle is assumed not to turn.
        var rate = q.rotate(snapshot.rate)
        if heading != nil { rate.z -= vehicle.rate ?? 0 }
        message.rates = [rate.x, rate.y, rate.z].map(Float.init)
        message.failures = failures.rawValue
        message.flags = UInt16(truncatingIfNeeded: flags.rawValue)
        let fromNorth = heading.flatMap { heading in north.map { heading + $0 } }
        message.deltaYaw = fromNorth.map { Float($0.remainder(dividingBy: 2 * .pi)) } ?? .nan
        message.deltaYawRate = vehicle.rate.map { Float($0) } ?? .nan
        message.device = device
        return message
    }

    /// Device ID in the gimbal device's messages. If another component is the manager, the
    /// component ID of the sender identifies the device, and this ID must be 0.
    private var device: UInt8 { isManager ? MAVLinkConfiguration.device : 0 }

    /// Errors and limits of the gimbal. Single disturbances, such as a missed period, damaged bytes or
    /// a motor at its torque limit, are not errors, because an autopilot refuses to arm while a gimbal
    /// has an error (ArduPilot: `AP_Mount_Gremsy::healthy`). Status texts report them.
    private var failures: GimbalFailures {
        let conditions = snapshot.conditions
        var failures: GimbalFailures = []
        if conditions.intersects(.jointLimit) {
            let (lower, upper) = jointRange.radians
            let ends = [
                (snapshot.joints.roll, lower.roll, upper.roll),
                (snapshot.joints.pitch, lower.pitch, upper.pitch),
                (snapshot.joints.yaw, lower.yaw, upper.yaw),
            ]
            let margin = Angle.degrees(1).radians
            for (axis, end) in ends.enumerated()
            where end.0 < end.1 + margin || end.0 > end.2 - margin {
                failures.insert(GimbalFailures(rawValue: 1 << UInt32(axis)))
            }
        }
        if conditions.intersects(.encoderMissing | .jointsUnknown) { failures.insert(.encoder) }
        if conditions.intersects(
            .motorHot | .motorSlipped | .motorStalled | .responseReversed
                | .rotorLost | .driveFault | .driveSilent | .driveUnguarded | .driveOverload
                | .driveOverheated)
        {
            failures.insert(.motor)
        }
        if conditions.intersects(.loopUnreliable | .controlFault) { failures.insert(.software) }
        if conditions.intersects(
            .busError | .imuMissing | .imuStale | .imuFrozen | .imuImplausible | .imuTimeFault
                | .canBusOff | .motorPortLost)
        {
            failures.insert(.communication)
        }
        if conditions.intersects(.supplyLow | .supplyEmpty | .driveVoltage) {
            failures.insert(.power)
        }
        if conditions.intersects(.calibrating) { failures.insert(.calibrating) }
        return failures
    }

    /// Capabilities of a gimbal with the given range, degrees.
    private func capabilities(in range: AxisRanges) -> GimbalCapabilities {
        var result: GimbalCapabilities = [
            .rollAxis, .rollLock, .pitchAxis, .pitchLock, .yawAxis, .yawLock,
        ]
        if snapshot.showsJoints {
            result.formUnion([.retract, .neutral, .yawFollow])
        }
        if range.isYawEndless { result.insert(.infiniteYaw) }
        if north != nil { result.insert(.yawInEarthFrame) }
        return result
    }

    var deviceInformation: GimbalDeviceInformation {
        var message = GimbalDeviceInformation()
        message.bootMs = bootMs
        let version = Version.text.split(separator: ".").compactMap { UInt32($0) }
        for (place, part) in version.prefix(4).enumerated() {
            message.firmware |= (part & 0xFF) << (8 * UInt32(place))
        }
        // The limits of the hardware; GIMBAL_MANAGER_INFORMATION contains the limits of requests.
        let (lower, upper) = jointRange.radians
        (message.rollMin, message.rollMax) = (Float(lower.roll), Float(upper.roll))
        (message.pitchMin, message.pitchMax) = (Float(lower.pitch), Float(upper.pitch))
        (message.yawMin, message.yawMax) = jointRange.yawRadians
        let capabilities = capabilities(in: jointRange)
        message.capabilities = UInt16(truncatingIfNeeded: capabilities.rawValue)
        message.moreCapabilities = capabilities.rawValue
        message.vendor = "airframe"
        message.model = "airframed"
        message.device = device
        return message
    }

    var managerInformation: GimbalManagerInformation {
        var message = GimbalManagerInformation()
        message.bootMs = bootMs
        var capabilities = capabilities(in: range)
        if snapshot.showsJoints { capabilities.insert(.pointsAtPlaces) }
        message.capabilities = capabilities.rawValue
        let (lower, upper) = range.radians
        (message.rollMin, message.rollMax) = (Float(lower.roll), Float(upper.roll))
        (message.pitchMin, message.pitchMax) = (Float(lower.pitch), Float(upper.pitch))
        (message.yawMin, message.yawMax) = range.yawRadians
        message.device = MAVLinkConfiguration.device
        return message
    }

    func managerStatus(_ director: GimbalDirector) -> GimbalManagerStatus {
        var message = GimbalManagerStatus()
        message.bootMs = bootMs
        message.flags = flags.rawValue
        message.device = MAVLinkConfiguration.device
        message.primary = director.primary
        message.secondary = director.secondary
        return message
    }
}

extension AxisRanges {
    /// Ends of the intervals, rad.
    fileprivate var radians: (lower: AxisVector, upper: AxisVector) {
        (lower * (.pi / 180), upper * (.pi / 180))
    }

    /// Range of yaw, rad, limited to -π...π.
    fileprivate var yawRadians: (Float, Float) {
        (Float(max(radians.lower.yaw, -.pi)), Float(min(radians.upper.yaw, .pi)))
    }

    /// The angles that are in both ranges.
    fileprivate func intersection(_ other: AxisRanges) -> AxisRanges {
        AxisRanges(
            lower: AxisVector(
                yaw: max(lower.yaw, other.lower.yaw), roll: max(lower.roll, other.lower.roll),
                pitch: max(lower.pitch, other.lower.pitch)),
            upper: AxisVector(
                yaw: min(upper.yaw, other.upper.yaw), roll: min(upper.roll, other.upper.roll),
                pitch: min(upper.pitch, other.upper.pitch)))
    }
}

extension Quaternion {
    /// Euler angles of the camera in the order Z-Y-X (yaw, pitch, roll), as on flight instruments,
    /// rad.
    var angles321: AxisVector {
        AxisVector(
            yaw: atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
            roll: atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
            pitch: asin(min(max(2 * (w * y - z * x), -1), 1)))
    }
}
