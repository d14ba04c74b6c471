import GimbalCore
import Testing

@testable import Eyes

@Suite("Time code in the picture")
struct TimeCodeTests {
    private func age(_ view: TestPicture, now: Int64, noise: Int = 0) -> Int64? {
        var bytes = view.bytes
        for index in bytes.indices {
            let change = index * 7919 % (2 * noise + 1) - noise
            bytes[index] = UInt8(max(0, min(255, Int(bytes[index]) + change)))
        }
        return bytes.withUnsafeBytes {
            TimeCode.age(of: $0, width: view.width, stride: view.width, now: now)
        }
    }

    @Test(
        "the time code gives the age of a picture to 0.1 ms, at every size",
        arguments: [(160, 120), (320, 240), (640, 480), (1280, 720), (1920, 1080)],
        [0, 1_234_500_000, 400_000 * 1_000_000_000])
    func age(_ size: (Int, Int), _ exposed: Int64) throws {
        var view = TestPicture(width: size.0, height: size.1)
        view.draw(nil, notice: nil, exposed: exposed)
        #expect(age(view, now: exposed + 41_700_000) == 41_700_000)
    }

    @Test("the time code can be read after the compression errors of an encoder")
    func noise() {
        var view = TestPicture(width: 640, height: 480)
        view.draw(nil, notice: nil, exposed: 5_000_000_000)
        #expect(age(view, now: 5_010_000_000, noise: 60) == 10_000_000)
    }

    @Test("a picture without a code has no age", arguments: [UInt8(0), 16, 128, 235, 255])
    func none(_ grey: UInt8) {
        let bytes = [UInt8](repeating: grey, count: 640 * 480)
        let age = bytes.withUnsafeBytes {
            TimeCode.age(of: $0, width: 640, stride: 640, now: 1_000_000)
        }
        #expect(age == nil)
    }

    @Test("one wrong cell is detected", arguments: 0..<40)
    func wrongCell(_ index: Int) {
        var view = TestPicture(width: 640, height: 480)
        view.draw(nil, notice: nil, exposed: 77_000_000_000)
        var bytes = view.bytes
        let side = TimeCode.cell(width: 640)
        let (row, column) = (index / TimeCode.columns, index % TimeCode.columns)
        for y in row * side..<(row + 1) * side {
            for x in column * side..<(column + 1) * side {
                bytes[y * 640 + x] = 251 - bytes[y * 640 + x]
            }
        }
        let age = bytes.withUnsafeBytes {
            TimeCode.age(of: $0, width: 640, stride: 640, now: 77_000_000_000)
        }
        #expect(age == nil)
    }
}
