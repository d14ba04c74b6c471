import GimbalCore
import Testing

@testable import Hardware

@Suite("Faults of servos that do not store them, and motions between two threads")
struct FaultHoldTests {
    private static func at(_ seconds: Double) -> Instant { LinuxBusTests.at(seconds) }

    @Test(
        "a fault stays for a second, and for a minute if three faults came within the minute before"
    )
    func hold() {
        var hold = FaultHold()
        func holds(fault: UInt32, at seconds: Double) -> Bool {
            hold.holds(fault: fault, now: Self.at(seconds))
        }
        for start in [0.0, 5, 10] {
            #expect(!holds(fault: 0x20, at: start))
            #expect(holds(fault: 0, at: start + 0.9))
            #expect(!holds(fault: 0, at: start + 1))
        }
        #expect(!holds(fault: 0x20, at: 15))
        #expect(holds(fault: 0, at: 74))
        #expect(!holds(fault: 0, at: 76))
        #expect(!holds(fault: 0x20, at: 80))
        #expect(!holds(fault: 0, at: 81.5), "the count begins again after a minute")
    }

    @Test("a motion that is read is complete, and never older than the motion read before")
    func cell() async {
        let cell = JointCell()
        func motion(_ number: Int) -> JointMotion {
            JointMotion(
                angle: Double(number), rate: Double(number), time: Self.at(Double(number)),
                heard: Self.at(Double(number)))
        }
        let writer = Task.detached {
            for number in 1...20_000 {
                let one = motion(number)
                cell.publish(PerAxis(yaw: one, roll: one, pitch: one))
            }
        }
        var motions = PerAxis(JointMotion())
        var last = 0.0
        while last < 20_000 {
            cell.read(into: &motions)
            guard motions.yaw.angle > 0 else { continue }
            let expected = motion(Int(motions.yaw.angle))
            #expect(motions.yaw == expected && motions.pitch == expected)
            #expect(motions.yaw.angle >= last, "the time is earlier than the previous time")
            last = motions.yaw.angle
        }
        await writer.value
    }
}
