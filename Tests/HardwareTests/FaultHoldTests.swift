import GimbalCore
import Testing

@testable import Hardware

@Suite("Faults of servos that forget them, and motions between two threads")
struct FaultHoldTests {
    private static func at(_ seconds: Double) -> Instant { LinuxBusTests.at(seconds) }

    @Test("a fault stays for a second, and for a minute after the third one within a minute")
    func hold() {
        var hold = FaultHold()
        for start in [0.0, 5, 10] {
            #expect(!hold.holds(fault: 0x20, now: Self.at(start)))
            #expect(hold.holds(fault: 0, now: Self.at(start + 0.9)))
            #expect(!hold.holds(fault: 0, now: Self.at(start + 1)))
        }
        #expect(!hold.holds(fault: 0x20, now: Self.at(15)))
        #expect(hold.holds(fault: 0, now: Self.at(74)))
        #expect(!hold.holds(fault: 0, now: Self.at(76)))
        #expect(!hold.holds(fault: 0x20, now: Self.at(80)))
        #expect(!hold.holds(fault: 0, now: Self.at(81.5)), "a minute later the count begins again")
    }

    @Test("a motion that is read is one that was written, whole")
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
            #expect(motions.yaw.angle >= last, "older than the one before")
            last = motions.yaw.angle
        }
        await writer.value
    }
}
