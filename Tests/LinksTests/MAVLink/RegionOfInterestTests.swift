import GimbalCore
import Testing
import Wire

@testable import Links

@Suite("Regions of interest")
struct RegionOfInterestTests {
    private func position(
        _ latitude: Double, _ longitude: Double, _ altitude: Double, east: Double = 0
    ) -> GlobalPosition {
        var message = GlobalPosition()
        message.latitude = Int32((latitude * 1e7).rounded())
        message.longitude = Int32((longitude * 1e7).rounded())
        message.altitude = Int32((altitude * 1000).rounded())
        message.altitudeAboveHome = Int32(((altitude - 10) * 1000).rounded())
        message.eastSpeed = Int16((east * 100).rounded())
        return message
    }

    private func region(
        at latitude: Double = 0, _ longitude: Double = 0.001, _ altitude: Double = 100
    ) -> RegionOfInterest {
        var region = RegionOfInterest()
        _ = region.note(
            position(latitude, longitude, altitude), from: 1, isOwn: true, now: at(0))
        return region
    }

    private func degrees(_ direction: RegionOfInterest.Direction?) -> (yaw: Double, pitch: Double) {
        guard let direction else { return (.nan, .nan) }
        return (direction.yaw * 180 / .pi, direction.pitch * 180 / .pi)
    }

    @Test(
        "yaw is measured clockwise from north, and pitch is positive upwards",
        arguments: [
            (0.001, 0.001, 0.0), (0, 0.002, 90), (-0.001, 0.001, 180), (0, 0, -90),
            (0.001, 0.002, 45),
        ])
    func yaw(latitude: Double, longitude: Double, yaw: Double) {
        var region = region()
        region.target = .place(.init(latitude: latitude, longitude: longitude, altitude: 100))
        let found = degrees(region.direction(now: at(0)))
        #expect(abs((found.yaw - yaw).remainder(dividingBy: 360)) < 0.01 && abs(found.pitch) < 0.01)
    }

    @Test(
        "a position straight below has a pitch of -90°, and the vehicle's own position has no direction"
    )
    func below() {
        var region = region()
        region.target = .place(.init(latitude: 0, longitude: 0.001, altitude: 0))
        #expect(abs(degrees(region.direction(now: at(0))).pitch + 90) < 1e-6)
        region.target = .place(.init(latitude: 0, longitude: 0.001, altitude: 100.2))
        #expect(region.direction(now: at(0)) == nil)
    }

    @Test("directions across the date line and at a high latitude are correct")
    func dateLine() {
        var region = region(at: 60, 179.9999)
        region.target = .place(.init(latitude: 60, longitude: -179.9999, altitude: 100))
        #expect(abs(degrees(region.direction(now: at(0))).yaw - 90) < 0.01)
        // At a latitude of 60° a degree of longitude is half as long as a degree of latitude.
        region = self.region(at: 60, 10)
        region.target = .place(.init(latitude: 60.001, longitude: 10.002, altitude: 100))
        #expect(abs(degrees(region.direction(now: at(0))).yaw - 45) < 0.01)
    }

    @Test(
        "next to a pole, the direction leads across the pole, not along the circle of latitude",
        arguments: [(1.0, 0.0), (-1, 180)])
    func pole(hemisphere: Double, yaw: Double) {
        // 22 m from the vehicle, on the other side of the pole.
        var region = region(at: hemisphere * 89.9999, 30)
        region.target = .place(
            .init(latitude: hemisphere * 89.9999, longitude: -150, altitude: 77.76))
        let across = degrees(region.direction(now: at(0)))
        #expect(abs((across.yaw - yaw).remainder(dividingBy: 360)) < 0.01)
        #expect(abs(across.pitch + 45) < 0.1)
        region.target = .place(
            .init(latitude: hemisphere * 90, longitude: 0, altitude: 100))
        let pole = degrees(region.direction(now: at(0)))
        #expect(abs((pole.yaw - yaw).remainder(dividingBy: 360)) < 0.01)
        // A vehicle moves east by 11.12 m, a quarter turn about the pole from the gimbal's vehicle.
        region.target = .system(7)
        _ = region.note(
            position(hemisphere * 89.9999, 120, 100, east: 11.12), from: 7, isOwn: false, now: at(0)
        )
        // East at the longitude 120 is parallel to north at the longitude 30.
        let moved = degrees(region.direction(now: at(1)))
        let angle = 26.565  // atan(1 / 2)
        #expect(
            abs(
                (moved.yaw - (yaw + (hemisphere > 0 ? angle : -angle)))
                    .remainder(dividingBy: 360)) < 0.1)
    }

    @Test(
        "a distant place at the same altitude is below the horizontal, because the earth is round")
    func curvature() {
        var region = region()
        region.target = .place(.init(latitude: 1, longitude: 0.001, altitude: 100))
        // Half of the angle between the two places at the centre of the earth.
        #expect(abs(degrees(region.direction(now: at(0))).pitch + 0.5) < 0.001)
    }

    @Test("a moving vehicle is predicted with its velocity, and lost when it is silent")
    func vehicle() {
        var region = region()
        region.target = .system(7)
        #expect(region.direction(now: at(0)) == nil)
        let isNews = region.note(
            position(0.0001, 0.001, 100, east: 11.12), from: 7, isOwn: false, now: at(0))
        #expect(isNews && region.knows(7, now: at(0)))
        #expect(abs(degrees(region.direction(now: at(0))).yaw) < 0.1)
        // The vehicle moves 11.12 m north, and after a second also 11.12 m east.
        #expect(abs(degrees(region.direction(now: at(1))).yaw - 45) < 0.1)
        #expect(region.direction(now: at(3.1)) == nil && !region.knows(7, now: at(3.1)))
    }

    @Test("positions without a fix, and of more than 16 vehicles, are not stored")
    func bounds() {
        var region = RegionOfInterest()
        _ = region.note(position(0, 0, 0), from: 1, isOwn: true, now: at(0))
        #expect(!region.isLocated(now: at(0)))
        for system in UInt8(2)...40 {
            _ = region.note(position(1, 1, 1), from: system, isOwn: false, now: at(0))
        }
        #expect((UInt8(2)...40).count { region.knows($0, now: at(0)) } == 16)
        // Silent vehicles are replaced.
        _ = region.note(position(1, 1, 1), from: 50, isOwn: false, now: at(10))
        #expect(region.knows(50, now: at(10)))
    }

    @Test(
        "the GPS receiver's position replaces a missing GLOBAL_POSITION_INT, but has no home altitude"
    )
    func receiver() {
        var message = GPSPosition()
        message.longitude = 10_000
        message.altitude = 50_000
        var region = RegionOfInterest()
        message.fix = 2
        let isTwoDimensional = region.noteOwn(message, now: at(0))
        #expect(!isTwoDimensional && !region.isLocated(now: at(0)))
        message.fix = 3
        _ = region.noteOwn(message, now: at(0))
        #expect(region.isLocated(now: at(0)) && region.home(now: at(0)) == nil)
        region.target = .place(.init(latitude: 0.001, longitude: 0.001, altitude: 50))
        #expect(abs(degrees(region.direction(now: at(0))).yaw) < 0.01)
        // The fused position has priority while it is recent.
        _ = region.note(position(0, 0.002, 50), from: 1, isOwn: true, now: at(1))
        let isUsed = region.noteOwn(message, now: at(2))
        #expect(!isUsed)
        #expect(abs(degrees(region.direction(now: at(2))).yaw + 45) < 0.01)
        let isUsedLater = region.noteOwn(message, now: at(5))
        #expect(isUsedLater)
    }

    @Test("the home altitude is the altitude minus the altitude above home")
    func home() {
        #expect(region().home(now: at(0)) == 10)
        #expect(region().home(now: at(4)) == nil)
    }
}
