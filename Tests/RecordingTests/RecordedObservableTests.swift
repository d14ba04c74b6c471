import GimbalCore
import Observables
import Realtime
import Simulation
import SystemPackage
import Testing

@testable import Recording

@Suite("Observables in a recording") struct RecordedObservableTests {
    private static func table(_ bytes: [UInt8]) throws -> [[Substring]] {
        var text: [UInt8] = []
        _ = FlightTable.write(.tick, of: try FlightFile(bytes: bytes, path: "rig.mcap")) {
            (lines: [UInt8]) throws(Never) in text += lines
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: ",") }
    }

    /// Other programs and old recordings identify a field by its number, and a column by its name.
    @Test("observables keep their field numbers and names")
    func numbers() {
        func axes(_ first: Int, _ stem: String, _ unit: String) -> [Int: String] {
            [
                first: "\(stem)_yaw_\(unit)", first + 1: "\(stem)_roll_\(unit)",
                first + 2: "\(stem)_pitch_\(unit)",
            ]
        }
        var expected: [Int: String] = [
            50: "inclination_sigma_deg", 51: "gyro_vibration_dps", 52: "accel_weight",
            53: "at_rest", 54: "estimate_us", 55: "control_us", 56: "wake_us", 57: "bus_us",
            58: "imu_to_motor_us",
        ]
        for fields in [
            axes(32, "attitude", "deg"), axes(35, "setpoint", "deg"), axes(38, "error", "deg"),
            axes(41, "rate", "dps"), axes(44, "joint", "deg"), axes(47, "gyro_bias", "dps"),
        ] {
            expected.merge(fields) { $1 }
        }
        let recorded = Observable.recorded
        for (number, name) in expected {
            #expect(recorded.first { $0.number == number }?.name == name, "\(number)")
        }
        #expect(Set(recorded.map(\.number)).count == recorded.count)
        #expect(Set(recorded.map(\.name)).count == recorded.count)
        // The numbers below 32 belong to values of the replay, and a reader supports 128 fields.
        #expect(recorded.allSatisfy { (32..<128).contains($0.number) })
    }

    @Test("observables are columns of the table, in the unit that the column name states")
    func values() throws {
        var rig = FlightRig(.walking)
        rig.run(2)
        rig.tick += 1
        rig.loop.tick(now: rig.now)
        let popped = rig.loop.telemetry.pop()
        let snapshot = try #require(popped).snapshot
        rig.listen()
        let table = try Self.table(rig.file())
        let (names, last) = (try #require(table.first), try #require(table.last))
        #expect(table.count == 2002)
        let recorded = Observable.recorded.map(\.name)
        #expect(names.suffix(recorded.count).map(String.init) == recorded)
        func value(_ name: String) throws -> Double {
            let column = try #require(names.firstIndex { $0 == name })
            return try #require(Double(last[column]))
        }
        let degrees = 180 / Double.pi
        #expect(abs(try value("rate_pitch_dps") - snapshot.rate.y * degrees) < 1e-4)
        #expect(abs(try value("error_yaw_deg") - snapshot.attitudeError.z * degrees) < 1e-4)
        #expect(try value("at_rest") == (snapshot.isAtRest ? 1 : 0))
        #expect(try value("control_us") > 0)
    }
}
