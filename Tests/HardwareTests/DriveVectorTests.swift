import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Frames and values from the vendors' documents and programs. We compiled the functions of the
/// programs outside this project, and recorded their results. Where a program cuts fractions off and
/// the codec rounds, the fields may differ by one step. `MITVectorTests` contains the drives with the
/// Mini Cheetah's protocol and the CyberGear.
///
/// From the vendors are the vectors of ODrive (programs, DBC files), moteus (package), Mini Cheetah
/// (firmware of the drive), Damiao (programs), CyberGear (sample program in the manual; for replies, a
/// program of RobStride) and GM6020 (DJI's program). From others are only the frames of the CyberGear's
/// parameter table (`cyberGearTable`). We found no text or program by DJI with the GM6020's current
/// command (`GM6020Codec`), and no frame of a motion or a torque in the CubeMars AK manual (V1.0.8).
@Suite("Codecs of drives: vectors of the vendors")
struct DriveVectorTests {
    static let ids = DriveCodecTests.ids

    // MARK: ODrive
    // The frames with firmware 0.6 are those of odriverobotics/ODriveArduino, can_simple_messages.hpp
    // (commit 64c4445a), and of odriverobotics/ODriveResources, can_param_access.py (06dc8461). The
    // vendor's DBC files (odrive-cansimple-0.6.10.dbc and -0.5.6.dbc) with cantools give the same bytes.
    // Firmware 0.5: odriverobotics/ODrive, can_simple.cpp (073da34a), with its can_setSignal.

    @Test("the frames to an ODrive are those of the vendor's programs")
    func odriveCommands() {
        var codec = ODriveCodec(
            ids: Self.ids, endpoints: DriveWatchdogTests.endpoints, watchdog: 0.025)
        // The drives are switched on one after the other.
        var sent: [CANFrame] = []
        for _ in 0..<3 { sent += frames(&codec, torque: AxisVector(yaw: 0, roll: 0.37, pitch: 0)) }
        #expect(sent.contains(CANFrame(id: 0x04B, data: [1, 0, 0, 0, 1, 0, 0, 0])))
        // The programs have eight bytes for these messages; the rest of them is not used.
        #expect(sent.first { $0.id == 0x047 }?.data == [8, 0, 0, 0])
        #expect(sent.first { $0.id == 0x04E }?.data == [0xA4, 0x70, 0xBD, 0x3E])
        var wrong = DriveState()
        wrong.firmware = 0x00_0609
        wrong.watchdog = 0
        wrong.isWatchdogOn = false
        var off: [CANFrame] = []
        for number in 0..<100 {
            let now = 0.02 * Double(number)
            off += frames(&codec, enabled: false, states: PerAxis(wrong), at: now)
        }
        #expect(
            off.contains(
                CANFrame(id: 0x044, data: [0x01, 0x23, 0x01, 0, 0xCD, 0xCC, 0xCC, 0x3C])))
    }

    @Test("the frames of an ODrive with firmware 0.6 are read as the vendor's program writes them")
    func odriveReplies() {
        let codec = ODriveCodec(
            ids: Self.ids, endpoints: DriveWatchdogTests.endpoints, watchdog: 0.025)
        func read(_ id: UInt32, _ data: [UInt8]) -> DriveReading? {
            codec.decode(in: CANFrame(id: id, data: data))
        }
        let heartbeat = read(0x041, [0, 0, 0, 1, 8, 0, 1, 0])
        #expect(heartbeat?.fault == 0x100_0000 && heartbeat?.isRunning == true)
        #expect(read(0x043, [0, 0, 0, 1, 0, 0, 0, 0])?.fault == 0x100_0000)
        let estimate = read(0x049, [0, 0, 0xD0, 0xBF, 0, 0, 0x40, 0x3F])
        #expect(estimate?.angle == -1.625 * 2 * .pi && estimate?.rate == 0.75 * 2 * .pi)
        #expect(read(0x057, [0, 0, 0xC4, 0x41, 0, 0, 0x80, 0xBE])?.voltage == 24.5)
        #expect(read(0x055, [0, 0, 0x26, 0x42, 0, 0, 0x19, 0x42])?.temperature == 41.5)
        #expect(read(0x040, [2, 4, 4, 0x3A, 0, 6, 0x0A, 0])?.firmware == 0x00_060A)
        let timeout = read(0x045, [0, 0x23, 1, 0, 0xCD, 0xCC, 0xCC, 0x3C])?.watchdog
        #expect(abs((timeout ?? 0) - 0.025) < 1e-8)
    }

    @Test("the replies of an ODrive are read as firmware 0.5 writes them")
    func odriveOld() {
        let codec = ODriveCodec(ids: Self.ids)
        func fault(_ id: UInt32, _ data: [UInt8]) -> UInt32? {
            codec.decode(in: CANFrame(id: id, data: data))?.fault
        }
        // With the error of the motor, and with a completed trajectory.
        #expect(fault(0x041, [0, 8, 0, 0, 8, 1, 0, 0x80]) == 0x800)
        #expect(fault(0x043, [0x40, 0, 0, 0, 0, 0, 0, 0]) == 0x40)
        #expect(fault(0x044, [4, 0, 0, 0, 0, 0, 0, 0]) == 4)
        #expect(fault(0x05D, [1, 0, 0, 0, 0, 0, 0, 0]) == 1)
        let estimate = codec.decode(
            in: CANFrame(id: 0x049, data: [0, 0, 0xD0, 0xBF, 0, 0, 0x40, 0x3F]))
        #expect(estimate?.angle == -1.625 * 2 * .pi && estimate?.rate == 0.75 * 2 * .pi)
    }

    // MARK: moteus: the vendor's package moteus 1.1.1, make_position and make_stop

    @Test("the frames to a moteus are those of the vendor's Python package")
    func moteus() {
        var codec = MoteusCodec(ids: Self.ids, host: 0, watchdog: 0.05)
        let sent = frames(&codec, torque: AxisVector(yaw: 0.5, roll: 0, pitch: 0))[0]
        let package: [UInt8] = [
            0x01, 0x00, 0x0A, 0x0C, 0x05, 0x20, 0x00, 0x00, 0xC0, 0x7F, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x3F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0D, 0x27,
            0xCD, 0xCC, 0x4C, 0x3D, 0x0D, 0x2B, 0x00, 0x00, 0x00, 0x00, 0x1C, 0x04, 0x00, 0x13,
            0x0D,
        ]
        #expect(sent.data == package + [UInt8](repeating: 0x50, count: 5))
        #expect(
            frames(&codec, enabled: false)[0].data
                == [0x01, 0x00, 0x00, 0x1C, 0x04, 0x00, 0x13, 0x0D])
    }

    // MARK: GM6020: RoboMaster/Development-Board-C-Examples, 20.standard_robot, CAN_receive.c (bd594e1a)

    @Test("the frame with voltages of three GM6020 is that of DJI's program")
    func gm6020Voltage() {
        var codec = GM6020Codec(ids: Self.ids, mode: .voltage)
        // Without a torque, the voltage is the induced voltage of the rate, 13.33 rpm/V.
        func turning(_ volts: Double) -> DriveState {
            var state = DriveState()
            state.rate = volts * 13.33 * 2 * .pi / 60
            return state
        }
        // DJI's function CAN_cmd_gimbal has got the numbers 12500, -7604, 25000 and 0.
        let dji: [UInt8] = [0x30, 0xD4, 0xE2, 0x4C, 0x61, 0xA8, 0, 0]
        #expect(
            frames(
                &codec, states: PerAxis(yaw: turning(12), roll: turning(-7.3), pitch: turning(24)))
                == [CANFrame(id: 0x1FF, data: dji)])
    }

    @Test("a GM6020's reply is read as by DJI's program")
    func gm6020Replies() {
        let codec = GM6020Codec(ids: Self.ids, mode: .voltage)
        // Counter, rpm and °C are those of get_motor_measure. A turn has 8192 counts
        // (RoboMaster/RoboRTS-Firmware, bsp_can.c, 51df2f64).
        for (data, count, rpm, celsius) in [
            ([0x0A, 0xBC, 0xFF, 0xC4, 0x02, 0x58, 0x29, 0], 2748, -60, 41),
            ([0x1F, 0xFF, 0x00, 0x85, 0xF0, 0x00, 0x1E, 0], 8191, 133, 30),
            ([0x10, 0x00, 0xFE, 0xD4, 0x00, 0x00, 0x7D, 0], 4096, -300, 125),
        ] as [([UInt8], Double, Double, Double)] {
            let news = codec.decode(in: CANFrame(id: 0x205, data: data))
            #expect(news?.axis == .yaw && news?.temperature == celsius)
            #expect(abs((news?.angle ?? 0) - count / 8192 * 2 * .pi) < 1e-12)
            #expect(abs((news?.rate ?? 0) - rpm / 60 * 2 * .pi) < 1e-12)
        }
    }
}
