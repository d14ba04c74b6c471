import GimbalCore
import Testing

@testable import Eyes

@Suite("Drawn picture")
struct TestPictureTests {
    private static let ground: UInt8 = 90
    private static let sky: UInt8 = 170

    private func picture(yaw: Double = 0, roll: Double = 0, pitch: Double = 0) -> TestPicture {
        var view = TestPicture(width: 640, height: 480)
        let degree = Double.pi / 180
        view.draw(
            AxisVector(yaw: yaw * degree, roll: roll * degree, pitch: pitch * degree), notice: nil,
            exposed: 0)
        return view
    }

    /// Row of the horizon in a column without marks; nil if the column shows only sky or only
    /// ground.
    private func horizon(_ view: TestPicture, column: Int) -> Int? {
        // Below the time code, above the attitude.
        (40..<430).first { view.bytes[$0 * 640 + column] == Self.ground }
            .flatMap { $0 > 40 ? $0 : nil }
    }

    @Test("a level camera shows the horizon in the middle")
    func level() throws {
        #expect(abs(try #require(horizon(picture(), column: 50)) - 240) <= 1)
        #expect(abs(try #require(horizon(picture(), column: 600)) - 240) <= 1)
    }

    @Test("a camera that pitches up shows the horizon lower, one that pitches down higher")
    func pitch() throws {
        let up = try #require(horizon(picture(pitch: 10), column: 60))
        let down = try #require(horizon(picture(pitch: -10), column: 60))
        // 640 pixels cover 60°, so the focal length is 554 pixels; tan 10° is 0.176.
        #expect(abs(up - 240 - 98) <= 2)
        #expect(abs(240 - down - 98) <= 2)
    }

    @Test("a camera that rolls right shows a horizon that falls to the left")
    func roll() throws {
        let left = try #require(horizon(picture(roll: 10), column: 60))
        let right = try #require(horizon(picture(roll: 10), column: 580))
        // A line at 10° rises by 520 · tan 10° = 92 pixels over 520 pixels.
        #expect(abs(left - right - 92) <= 2)
    }

    @Test("a camera that points at the sky shows no ground, one that points down shows only ground")
    func straight() {
        #expect(!picture(pitch: 80).bytes.prefix(640 * 430).contains(Self.ground))
        #expect(!picture(pitch: -80).bytes.prefix(640 * 430).contains(Self.sky))
    }

    @Test("headings move to the left when the camera yaws right")
    func yaw() throws {
        func mark(_ yaw: Double) -> Int? {
            let row = 235
            return (250..<640).first { picture(yaw: yaw).bytes[row * 640 + $0] == 235 }
        }
        let (before, after) = (try #require(mark(0)), try #require(mark(3)))
        #expect(abs(before - 319) <= 2)
        #expect(abs(before - after - 29) <= 2)
    }
}
