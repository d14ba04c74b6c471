import GimbalCore
import Glibc
import Wire

/// Region of interest: a place on the earth, or a vehicle, at which the camera is pointed. The type
/// stores the positions of the gimbal's own vehicle and of other vehicles, and computes directions.
struct RegionOfInterest {
    /// A place on the earth.
    struct Place: Equatable {
        /// Latitude, degrees, -90...90, north positive.
        var latitude: Double
        /// Longitude, degrees, -180...180, east positive.
        var longitude: Double
        /// Altitude above sea level, m.
        var altitude: Double

        /// True if the coordinates are within their ranges.
        var isValid: Bool {
            abs(latitude) <= 90 && abs(longitude) <= 180 && altitude.isFinite
                && abs(altitude) <= 1e5
        }
    }

    /// The target of the camera.
    enum Target: Equatable {
        /// A place on the earth.
        case place(Place)
        /// The vehicle with this system ID.
        case system(UInt8)
    }

    /// A direction from the gimbal: yaw relative to north, and pitch, rad; right and up are
    /// positive.
    struct Direction: Equatable {
        var yaw: Double
        var pitch: Double
    }

    /// A received position.
    private struct Fix {
        var place: Place
        /// Altitude above home, m; NaN if it is not known.
        var height: Double
        /// Velocity to the north, to the east and upwards, m/s.
        var speed: (north: Double, east: Double, up: Double)
        var time: Instant

        /// The vehicle's position at a later time, extrapolated at constant velocity, from the
        /// centre of the earth, m.
        func position(at now: Instant) -> Vector3 {
            let seconds = min(max(now.seconds(since: time), 0), RegionOfInterest.extrapolation)
            let frame = LocalFrame(place)
            return frame.origin
                + (frame.north * speed.north + frame.east * speed.east + frame.up * speed.up)
                * seconds
        }
    }

    /// Directions north, east and up at a place, and the place's position, in a frame that rotates
    /// with the earth: the origin is the centre of the earth, x points at latitude 0 and longitude
    /// 0, z at the north pole. Unlike differences of latitude and longitude, these vectors are
    /// exact at the poles and across the date line.
    private struct LocalFrame {
        let north: Vector3
        let east: Vector3
        let up: Vector3
        /// Position of the place, m.
        let origin: Vector3

        init(_ place: Place) {
            let (latitude, longitude) = (place.latitude * .pi / 180, place.longitude * .pi / 180)
            let (sinLatitude, cosLatitude) = (sin(latitude), cos(latitude))
            let (sinLongitude, cosLongitude) = (sin(longitude), cos(longitude))
            north = Vector3(-sinLatitude * cosLongitude, -sinLatitude * sinLongitude, cosLatitude)
            east = Vector3(-sinLongitude, cosLongitude, 0)
            up = Vector3(cosLatitude * cosLongitude, cosLatitude * sinLongitude, sinLatitude)
            origin = up * (RegionOfInterest.earthRadius + place.altitude)
        }
    }

    /// Age at which a position is no longer used, s.
    static let staleSeconds = 3.0
    /// Longest time for which a position is extrapolated, s.
    private static let extrapolation = 1.0
    /// Largest number of other vehicles whose positions are stored.
    private static let mostSystems = 16
    /// Shortest distance to a target for which a direction is computed, m.
    private static let nearest = 0.5
    /// Mean radius of the earth (IUGG), m. The approximation of the earth as a sphere causes a
    /// direction error of at most 0.2°.
    private static let earthRadius = 6_371_008.8

    /// The target; nil if the camera is not pointed at a region of interest.
    var target: Target?
    private var own: Fix?
    private var others: [UInt8: Fix] = [:]

    /// Stores a position.
    ///
    /// - Parameters:
    ///   - message: The position.
    ///   - system: System ID of the sender.
    ///   - isOwn: True if the sender is the gimbal's own vehicle.
    ///   - now: Time of the receipt.
    /// - Returns: True if the direction of the target can have changed.
    mutating func note(
        _ message: GlobalPosition, from system: UInt8, isOwn: Bool, now: Instant
    ) -> Bool {
        let fix = Fix(
            place: Place(
                latitude: Double(message.latitude) * 1e-7,
                longitude: Double(message.longitude) * 1e-7,
                altitude: Double(message.altitude) * 1e-3),
            height: Double(message.altitudeAboveHome) * 1e-3,
            speed: (
                Double(message.northSpeed) * 0.01, Double(message.eastSpeed) * 0.01,
                -Double(message.downSpeed) * 0.01
            ), time: now)
        // Latitude and longitude are 0 while an autopilot has no position.
        guard fix.place.isValid, message.latitude != 0 || message.longitude != 0 else {
            return false
        }
        if isOwn {
            own = fix
            return target != nil
        }
        if others[system] == nil, others.count >= Self.mostSystems {
            others = others.filter { now.seconds(since: $0.value.time) <= Self.staleSeconds }
            guard others.count < Self.mostSystems else { return false }
        }
        others[system] = fix
        return target == .system(system)
    }

    /// Stores the position from the GPS receiver of the gimbal's own vehicle. The position is used
    /// only while the vehicle does not send GLOBAL_POSITION_INT.
    ///
    /// - Parameters:
    ///   - message: The position.
    ///   - now: Time of the receipt.
    /// - Returns: True if the direction of the target can have changed.
    mutating func noteOwn(_ message: GPSPosition, now: Instant) -> Bool {
        let place = Place(
            latitude: Double(message.latitude) * 1e-7, longitude: Double(message.longitude) * 1e-7,
            altitude: Double(message.altitude) * 1e-3)
        guard message.fix >= 3, place.isValid else { return false }
        if let height = fresh(own, now)?.height, height.isFinite { return false }
        own = Fix(place: place, height: .nan, speed: (0, 0, 0), time: now)
        return target != nil
    }

    /// Altitude of home above sea level, m; nil if it is not known.
    func home(now: Instant) -> Double? {
        fresh(own, now).flatMap { $0.height.isFinite ? $0.place.altitude - $0.height : nil }
    }

    /// True if the position of the gimbal's own vehicle is known.
    func isLocated(now: Instant) -> Bool { fresh(own, now) != nil }

    /// True if the position of a vehicle is known.
    func knows(_ system: UInt8, now: Instant) -> Bool { fresh(others[system], now) != nil }

    /// Direction of the target; nil if there is no target, if a position is not known, or if the
    /// target is closer than half a metre.
    func direction(now: Instant) -> Direction? {
        guard let target, let own = fresh(own, now) else { return nil }
        let end: Vector3
        switch target {
        case .place(let place): end = LocalFrame(place).origin
        case .system(let system):
            guard let fix = fresh(others[system], now) else { return nil }
            end = fix.position(at: now)
        }
        let frame = LocalFrame(own.place)
        let way = end - own.position(at: now)
        let (north, east, up) = (way.dot(frame.north), way.dot(frame.east), way.dot(frame.up))
        let distance = hypot(north, east)
        guard hypot(distance, up) >= Self.nearest else { return nil }
        return Direction(yaw: atan2(east, north), pitch: atan2(up, distance))
    }

    private func fresh(_ fix: Fix?, _ now: Instant) -> Fix? {
        fix.flatMap { now.seconds(since: $0.time) <= Self.staleSeconds ? $0 : nil }
    }
}
