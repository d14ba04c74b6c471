import Configuration
import GimbalCore
import Testing

@testable import Hardware

/// Vectors of drives with the Mini Cheetah's protocol.
@Suite("Codec of the Mini Cheetah's protocol: vectors of the vendors")
struct MITVectorTests {
    static let ids = DriveCodecTests.ids

    // MARK: Mini Cheetah: firmware of the drive, bgkatz/motorcontrol, can.c and math_ops.c (0526ecff)

    /// Ranges that the firmware has without settings (main.c): ±12.5 rad, ±65 rad/s, ±40 N·m.
    static let katz = MITLimits(angle: 12.5, rate: 65, torque: 40)

    @Test("only Damiao's drives get the command that clears faults")
    func clear() {
        // The firmware of the Mini Cheetah reads it as 12.5 rad, 65 rad/s, 500 N·m/rad and 39.9 N·m.
        let clear = CANFrame(id: 1, data: [255, 255, 255, 255, 255, 255, 255, 0xFB])
        var bad = DriveState()
        bad.fault = 4
        for variant in MITVariant.allCases {
            var codec = MITCodec(ids: Self.ids, host: 0, limits: Self.katz, variant: variant)
            let sent = (0..<100).flatMap {
                frames(
                    &codec, enabled: false, states: PerAxis(bad), at: 0.05 * Double($0))
            }
            #expect(sent.contains(clear) == (variant == .damiao), "\(variant)")
        }
    }
}
