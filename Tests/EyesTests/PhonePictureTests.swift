import Aerie
import CTurboJPEG
import Glibc
import People
import SystemPackage
import TestSupport
import Testing

@testable import Eyes

@Suite("Pictures of phones", .timeLimit(.minutes(1)))
struct PhonePictureTests {
    /// JPEG of a picture whose red increases to the right and whose green increases downwards.
    static func jpeg(width: Int, height: Int) throws -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                pixels += [UInt8(x * 255 / (width - 1)), UInt8(y * 255 / (height - 1)), 60]
            }
        }
        return try compress(pixels, width: width, height: height)
    }

    static func compress(_ pixels: [UInt8], width: Int, height: Int) throws -> [UInt8] {
        let handle = try #require(tjInitCompress())
        defer { tjDestroy(handle) }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let result = tjCompress2(
            handle, pixels, Int32(width), 0, Int32(height), Int32(TJPF_RGB.rawValue), &bytes,
            &count, Int32(TJSAMP_420.rawValue), 80, 0)
        defer { tjFree(bytes) }
        try #require(result == 0)
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    @Test("a large picture is decoded at half its size, with the colours at the right positions")
    func decode() throws {
        let decoder = try JPEGDecoder()
        let (width, height, picture) = try decoder.decode(
            Self.jpeg(width: 1920, height: 1440))
        #expect((width, height) == (1920, 1440))
        #expect((picture.width, picture.height) == (960, 720))
        let small = try decoder.decode(Self.jpeg(width: 64, height: 48)).picture
        #expect((small.width, small.height) == (64, 48))
        func colour(_ x: Int, _ y: Int, _ picture: RGBPicture) -> [Int] {
            (0..<2).map { Int(picture.bytes[3 * (y * picture.width + x) + $0]) }
        }
        #expect(abs(colour(480, 180, picture)[0] - 128) < 6)
        #expect(abs(colour(480, 180, picture)[1] - 64) < 6)
    }

    @Test("a picture is rotated clockwise in quarter turns")
    func turns() throws {
        let bytes = (0..<6).flatMap { [UInt8($0), 0, 0] as [UInt8] }
        let picture = try #require(RGBPicture(width: 3, height: 2, bytes: bytes))
        func reds(_ turns: Int) -> [UInt8] {
            let turned = picture.turned(turns)
            return stride(from: 0, to: turned.bytes.count, by: 3).map { turned.bytes[$0] }
        }
        #expect(reds(0) == [0, 1, 2, 3, 4, 5])
        #expect(reds(1) == [3, 0, 4, 1, 5, 2])
        #expect(reds(2) == [5, 4, 3, 2, 1, 0])
        #expect(reds(3) == [2, 5, 1, 4, 0, 3])
        #expect(picture.turned(1).width == 2)
    }

    @Test("bytes that are not a picture, truncated pictures and huge pictures are refused")
    func refusals() throws {
        let decoder = try JPEGDecoder()
        let good = try Self.jpeg(width: 64, height: 48)
        // The size in the frame header (marker FFC0) changed to 65,000 x 65,000.
        var huge = good
        let marker = try #require(
            huge.indices.dropLast().first { huge[$0] == 0xff && huge[$0 + 1] == 0xc0 })
        huge.replaceSubrange((marker + 5)..<(marker + 9), with: [0xfd, 0xe8, 0xfd, 0xe8])
        // 5,000 x 4,000 pixels: a progressive file of this size would need 120 MB.
        var large = good
        large.replaceSubrange((marker + 5)..<(marker + 9), with: [0x0f, 0xa0, 0x13, 0x88])
        let refusal = try #require(throws: JPEGDecoder.Failure.self) { try decoder.decode(large) }
        #expect(refusal.description.contains("5000 x 4000 pixels is too large"))
        let wrong: [[UInt8]] = [[], [1, 2, 3], Array(good.prefix(good.count / 2)), huge]
        for bytes in wrong {
            #expect(throws: JPEGDecoder.Failure.self) { try decoder.decode(bytes) }
        }
        #expect(try decoder.decode(good).picture.width == 64)
    }

    @Test("people in a photo are found, even if the picture is rotated by 90°")
    func people() throws {
        let photo = "/usr/share/doc/opencv-doc/examples/data/messi5.jpg"
        let models = ".build/eyes-models"
        guard access(photo, R_OK) == 0, access("\(models)/\(PersonFinder.Files.library)", R_OK) == 0
        else {
            print("SKIPPED: people in a photo, because opencv-doc or the models are not installed")
            return
        }
        try VideoLibrary.start()
        let picture = try #require(try PictureFile(photo).next())
        let source = try PhonePoseSource(directory: models)
        let upright = try source.bodies(
            in: Self.compress(picture.bytes, width: picture.width, height: picture.height),
            quarterTurns: 0)
        let body = try #require(upright.bodies.first)
        #expect(body.joints.count == 13)
        // The same photo from a phone that is held upright; the picture is rotated
        // counter-clockwise.
        let lying = picture.turned(3)
        let found = try source.bodies(
            in: Self.compress(lying.bytes, width: lying.width, height: lying.height),
            quarterTurns: 1)
        #expect((found.width, found.height) == (lying.width, lying.height))
        let again = try #require(found.bodies.first)
        for (type, point) in body.joints where point.visibility > 0.5 {
            let other = try #require(again.joints[type])
            #expect(abs(point.u - other.u) < 15 && abs(point.v - other.v) < 15)
        }
    }
}
