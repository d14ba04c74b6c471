import GimbalCore
import Glibc
import Realtime
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

    @Test("a board is silent after 0.1 s of failed transfers, until a transfer succeeds")
    func silent() {
        func at(_ seconds: Double) -> Instant {
            Instant(nanoseconds: 0).advanced(bySeconds: seconds)
        }
        let wire = I2CWire()
        wire[DriveBoard.address, 0] = 0
        let board = DriveBoard(bus: wire.bus(), format: .publicDriver)
        try? board.write(left: 1, right: 1, now: at(1))
        #expect(wire[DriveBoard.address, 1] == 100 && board.isReady(now: at(5)))
        wire.absent = [DriveBoard.address]
        // One disturbed transfer does not stop the robot.
        try? board.write(left: 1, right: 1, now: at(6))
        #expect(board.isReady(now: at(6.09)))
        try? board.write(left: 1, right: 1, now: at(6.1))
        #expect(!board.isReady(now: at(6.12)))
        wire.absent = []
        try? board.write(left: 0, right: 0, now: at(7))
        #expect(board.isReady(now: at(7.02)))
    }

    @Test("while a board is missing, the wheels stay at rest, although a client requests speeds")
    func held() throws {
        let wheels = DriveMotors(
            bus: "/nowhere/i2c-1", format: .publicDriver, parameters: .init())
        try wheels.start()
        let end = MonotonicClock.now.advanced(bySeconds: 10)
        wheels.ask(DriveModel.Request(left: 1, right: 1, validUntil: end))
        // Before the board counts as silent, the requested speeds are computed.
        while !wheels.isHeld || wheels.speeds.left > 0, MonotonicClock.now < end { usleep(1000) }
        #expect(wheels.isHeld && !wheels.isReady)
        #expect(wheels.speeds.left == 0 && wheels.speeds.right == 0)
        _ = wheels.stop()
    }
}
