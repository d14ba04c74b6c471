import Testing

@testable import Eyes

@Suite("Direction of a person in the picture of a phone")
struct PersonAimTests {
    private func aims(_ path: [(yaw: Double, pitch: Double)]) -> [[Double]] {
        var aim = PersonAim()
        return path.compactMap {
            aim.next(yaw: $0.yaw, pitch: $0.pitch).map { [$0.yaw, $0.pitch] }
        }
    }

    @Test("the camera takes the first direction, and ignores changes of less than 1°")
    func deadZone() {
        #expect(
            aims([(10, 0), (10.9, 0.9), (11.1, 0), (11.1, 1)]) == [
                [10, 0], [11.1, 0], [11.1, 1],
            ])
    }

    @Test("small changes add up, and a change across ±180° is the shorter one")
    func wrap() {
        #expect(aims([(0, 0), (0.6, 0), (1.2, 0)]) == [[0, 0], [1.2, 0]])
        #expect(aims([(179.8, 0), (-179.7, 0), (-178.9, 0)]) == [[179.8, 0], [-178.9, 0]])
    }

    @Test("directions are limited to 80° of pitch, where a change of heading counts less")
    func steep() {
        #expect(aims([(0, 89), (5, 90), (10, 85)]) == [[0, 80], [10, 80]])
    }
}
