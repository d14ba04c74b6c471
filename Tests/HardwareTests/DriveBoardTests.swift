import GimbalCore
import Robot
import Testing

@testable import Hardware

@Suite("The rider's motor board")
struct DriveBoardTests {
    @Test(
        "the bytes match the public driver's register 0x00 and the vendor's register 0x01",
        arguments: [
            (DriveBoardFormat.publicDriver, 0.0, 0.0, [0x00, 1, 0, 1, 0]),
            (.publicDriver, 1, -1, [0x00, 1, 100, 0, 100]),
            (.publicDriver, -0.255, 0.5, [0x00, 0, 26, 1, 50]),
            (.vendor, 0, 0, [0x01, 1, 0, 1, 0]),
            (.vendor, 1, -1, [0x01, 1, 255, 0, 255]),
            (.vendor, -0.5, 0.1, [0x01, 0, 128, 1, 26]),
            (.vendor, 9, -9, [0x01, 1, 255, 0, 255]),
            (.publicDriver, .nan, .infinity, [0x00, 0, 0, 1, 0]),
        ] as [(DriveBoardFormat, Double, Double, [UInt8])])
    func bytes(format: DriveBoardFormat, left: Double, right: Double, expected: [UInt8]) {
        let bytes = format.bytes(left: left, right: right)
        #expect([bytes.0, bytes.1, bytes.2, bytes.3, bytes.4] == expected)
    }

    @Test(
        "a missing board is counted as errors, and stopping reports that the board has not confirmed it"
    )
    func missing() throws {
        let wheels = DriveMotors(
            bus: "/nowhere/i2c-1", format: .vendor, parameters: .init())
        try wheels.start()
        #expect(!wheels.stop())
        #expect(wheels.errors >= 10)
    }
}
