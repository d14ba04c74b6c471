import GimbalCore
import Testing

@testable import Hardware

@Suite("Buffers of the kernel's IIO devices")
struct IIODecoderTests {
    @Test(
        "a scan element's type is read",
        arguments: [
            ("le:s16/16>>0", true, true, 16, 2, 1, 0), ("be:s16/16>>0", false, true, 16, 2, 1, 0),
            ("le:s12/16>>4", true, true, 12, 2, 1, 4), ("be:u24/32>>8", false, false, 24, 4, 1, 8),
            ("le:s64/64>>0", true, true, 64, 8, 1, 0), ("le:s32/32X4>>0", true, true, 32, 4, 4, 0),
            ("le:u8/8>>0\n", true, false, 8, 1, 1, 0),
        ] as [(String, Bool, Bool, Int, Int, Int, Int)])
    func format(
        text: String, isLittle: Bool, isSigned: Bool, bits: Int, size: Int, count: Int, shift: Int
    ) throws {
        let format = try #require(IIOFormat(text))
        #expect(format.isLittleEndian == isLittle && format.isSigned == isSigned)
        #expect(format.bits == bits && format.size == size)
        #expect(format.count == count && format.shift == shift)
    }

    @Test(
        "an invalid type of a scan element is refused",
        arguments: [
            "", "le", "le:", "xe:s16/16>>0", "le:f32/32>>0", "le:s0/16>>0", "le:s65/64>>0",
            "le:s16/12>>0", "le:s16/16>>1", "le:s16/16>>", "le:s16/16X0>>0", "le:s16/16X99>>0",
            "le:s-1/16>>0", "le:s16/16>>0x", "le:s999999999999/16>>0", "le:s٣/16>>0",
        ])
    func malformed(text: String) { #expect(IIOFormat(text) == nil) }

    @Test("values of every width, order and sign are decoded")
    func values() throws {
        func value(_ type: String, _ bytes: [UInt8]) throws -> Int64 {
            let format = try #require(IIOFormat(type))
            return bytes.withUnsafeBytes { format.value(in: $0, at: 0) }
        }
        #expect(try value("le:s16/16>>0", [0xFE, 0xFF]) == -2)
        #expect(try value("be:s16/16>>0", [0xFF, 0xFE]) == -2)
        #expect(try value("le:u16/16>>0", [0xFE, 0xFF]) == 65534)
        #expect(try value("le:s12/16>>4", [0xF7, 0x80]) == -2033)
        #expect(try value("be:s24/32>>8", [0x80, 0x00, 0x01, 0x55]) == -8_388_607)
        #expect(try value("be:s20/32>>4", [0xAB, 0x7F, 0xFF, 0xF5]) == 524_287)
        #expect(try value("le:s8/8>>0", [0x80]) == -128)
        #expect(try value("le:s64/64>>0", [1, 0, 0, 0, 0, 0, 0, 0x80]) == .min + 1)
    }

    private static func channels(_ list: [(String, String)]) -> [IIOChannel] {
        list.enumerated().compactMap { index, entry in
            IIOFormat(entry.1).map {
                IIOChannel(
                    meaning: IIOChannel.meaning(of: entry.0), index: index, format: $0)
            }
        }
    }

    @Test(
        "a scan has the kernel's layout: each channel is aligned to its size, the time to 8 bytes")
    func layout() throws {
        let three = MadeUpIIO.axes("anglvel", "le:s16/16>>0")
        let time = [("in_timestamp", "le:s64/64>>0")]
        #expect(IIODecoder(Self.channels(three))?.scanBytes == 6)
        #expect(IIODecoder(Self.channels(three + time))?.scanBytes == 16)
        let six = three + MadeUpIIO.axes("accel", "le:s24/32>>0")
        // The scan has 6 bytes, 2 bytes of padding, 12 bytes, 4 bytes of padding, and 8 bytes.
        let decoder = try #require(IIODecoder(Self.channels(six + time)))
        #expect(decoder.scanBytes == 32)
        #expect(decoder.hasTimestamp)
        #expect(decoder.quantities == [.gyroscope, .accelerometer])
        #expect(IIODecoder([]) == nil)
        let twice = Self.channels(three) + Self.channels(three)
        #expect(IIODecoder(twice) == nil, "two channels with one index")
    }

    @Test("offset, scale, mount matrix and units are applied")
    func conversion() throws {
        let list =
            MadeUpIIO.axes("accel", "be:s16/16>>0") + [("in_temp", "be:s16/16>>0")]
            + MadeUpIIO.axes("magn", "be:s16/16>>0") + [("in_timestamp", "le:s64/64>>0")]
        var decoder = try #require(IIODecoder(Self.channels(list)))
        let turned = try #require(IIOMountMatrix("0, -1, 0; 1, 0, 0; 0, 0, 1"))
        decoder[.accelerometer] = IIOConversion(
            scale: Vector3(0.01, 0.01, 0.02), offset: Vector3(1, 2, 3), mounting: turned)
        decoder[.magnetometer] = IIOConversion(scale: Vector3(0.001, 0.001, 0.001))
        decoder.temperature = (2.941176, 12420)
        let bytes = MadeUpIIO.scan([99, 198, -503, -7310, 200, -100, 450], time: 1_234_567)
        let scan = try #require(bytes.withUnsafeBytes { decoder.scan($0) })
        #expect(scan.time == Instant(nanoseconds: 1_234_567))
        #expect(scan.gyro == nil)
        let accel = try #require(scan.accel)
        #expect((accel - Vector3(-2, 1, -10)).lengthForTest < 1e-12)
        // 1 gauss is 100 µT.
        let field = try #require(scan.magneticField)
        #expect((field - Vector3(20, -10, 45)).lengthForTest < 1e-9)
        #expect(abs((scan.temperature ?? 0) - 15.0294) < 1e-3)
        #expect(
            bytes.dropLast().withUnsafeBytes { decoder.scan($0) } == nil,
            "an incomplete scan is refused")
    }

    @Test("readings between the configured range and the driver's larger full scale are saturated")
    func fullScale() throws {
        let kernel = MadeUpIIO()
        // At "2000 °/s", an LSM6DSOX measures up to 2293 °/s.
        kernel.add(
            0, name: "lsm6dsox_gyro", channels: MadeUpIIO.axes("anglvel", "be:s16/16>>0"),
            files: ["in_anglvel_scale": "0.001221730", "sampling_frequency": "1000"])
        let device = try #require(IIODevice.all(in: kernel.tree).first)
        var setUp = IIOSetUp(
            kernel.tree, device, wanted: [.gyroscope], request: IIORequest())
        var decoder: IIODecoder?
        for _ in 0..<10 where decoder == nil { decoder = try setUp.advance() }
        let ready = try #require(decoder)
        let bytes = MadeUpIIO.scan([29_000, -32_768, 20_000], time: 1)
        let gyro = try #require(bytes.withUnsafeBytes { ready.scan($0) }?.gyro)
        var parameters = SampleScreen.Parameters()
        parameters.gyroRange = Angle.degrees(2000).radians
        var screen = SampleScreen(parameters: parameters)
        let sample = IMUSample(
            time: Instant(nanoseconds: 1), gyro: gyro, accel: Vector3(0, 0, -9.8))
        #expect(screen.judge(sample) == .use(dt: 0), "\(gyro)")
        #expect(screen.counters.gyroSaturated == 1)
        #expect(gyro.x > 0 && gyro.y < 0 && abs(gyro.z - 20_000 * 0.001221730) < 1e-9)
    }

    @Test(
        "a scale whose text has too few digits is refused",
        arguments: [
            // The kernel's texts for 2.663e-8, 6.658e-9 and 1.664e-9 rad/s.
            ("adis16475-3", "0.000000026", 2000.0, true),
            ("adis16475-2", "0.000000006", 500, false), ("adis16475-1", "0.000000001", 125, false),
        ] as [(String, String, Double, Bool)])
    func coarseScale(name: String, scale: String, range: Double, isAccepted: Bool) throws {
        let kernel = MadeUpIIO()
        kernel.add(
            0, name: name, channels: MadeUpIIO.axes("anglvel", "be:s32/32>>0"),
            files: ["in_anglvel_scale": scale])
        let device = try #require(IIODevice.all(in: kernel.tree).first)
        var request = IIORequest()
        request.gyroRange = range
        var setUp = IIOSetUp(kernel.tree, device, wanted: [.gyroscope], request: request)
        var decoder: IIODecoder?
        var failure = ""
        do throws(IIOFailure) {
            for _ in 0..<10 where decoder == nil { decoder = try setUp.advance() }
        } catch {
            if case .device(let words) = error { failure = "\(words)" }
        }
        #expect(failure.contains("too few digits") == !isAccepted)
        #expect((decoder != nil) == isAccepted)
    }

    @Test("the scale of a temperature channel with a number is that of this channel")
    func numberedTemperature() throws {
        let kernel = MadeUpIIO()
        // The temperature of the kernel's adis16475: 0.1 °C per count.
        kernel.add(
            0, name: "adis16470",
            channels: MadeUpIIO.axes("anglvel", "be:s16/16>>0") + [("in_temp0", "be:s16/16>>0")],
            files: ["in_anglvel_scale": "0.001221730", "in_temp0_scale": "100"])
        let device = try #require(IIODevice.all(in: kernel.tree).first)
        var setUp = IIOSetUp(kernel.tree, device, wanted: [.gyroscope], request: IIORequest())
        var decoder: IIODecoder?
        for _ in 0..<10 where decoder == nil { decoder = try setUp.advance() }
        let ready = try #require(decoder)
        let bytes = MadeUpIIO.scan([0, 0, 0, 250], time: 1)
        let temperature = try #require(bytes.withUnsafeBytes { ready.scan($0) }?.temperature)
        #expect(temperature == 25)
    }

    @Test(
        "a mount matrix that is not a rotation is refused",
        arguments: [
            "", "1, 0, 0; 0, 1, 0", "1, 0, 0; 0, 1, 0; 0, 0, -1", "2, 0, 0; 0, 1, 0; 0, 0, 1",
            "1, 0, 0; 1, 0, 0; 0, 0, 1", "nan, 0, 0; 0, 1, 0; 0, 0, 1", "1 0 0 0 1 0 0 0 1 0",
        ])
    func matrix(text: String) { #expect(IIOMountMatrix(text) == nil) }

    @Test("a rotation with rounded digits is accepted")
    func rounded() throws {
        let matrix = try #require(
            IIOMountMatrix("0.707, 0.707, 0; -0.707, 0.707, 0; 0, 0, 1\n"))
        #expect((matrix.rotate(Vector3(1, 0, 0)) - Vector3(0.707, -0.707, 0)).lengthForTest < 1e-12)
    }

    @Test("the next higher value of the driver's list is chosen, spelled as in the list")
    func choices() throws {
        let list = try #require(IIOChoices("13.000 26.000 52.000 833.000"))
        #expect(list.atLeast(50) == "52.000")
        #expect(list.atLeast(838) == "833.000", "a difference of 0.01 is a rounding error")
        #expect(list.atLeast(5000) == "833.000", "the highest available frequency is used")
        let range = try #require(IIOChoices("[10 1 400]"))
        #expect(Double(range.atLeast(1000)) == 400)
        #expect(Double(range.atLeast(123)) == 123)
        #expect(IIOChoices("") == nil && IIOChoices("fast slow") == nil)
        #expect(IIOChoices("[5 1]") == nil)
    }

    @Test("measurements of a second device are resampled to the times of the first")
    func track() throws {
        func at(_ ms: Double) -> Instant { Instant(nanoseconds: Int64(ms * 1e6)) }
        var track = IIOTrack(staleSeconds: 0.02)
        #expect(track.value(at: at(0)) == nil)
        for ms in stride(from: 0.0, through: 200, by: 5) {
            track.append(Vector3(ms, 2 * ms, -ms), time: at(ms))
        }
        for ms in [196.3, 200, 203.7] {
            let value = try #require(track.value(at: at(ms)))
            #expect((value - Vector3(ms, 2 * ms, -ms)).lengthForTest < 1e-9, "\(ms) ms")
        }
        #expect(track.value(at: at(209))?.x == 205, "the extrapolation is limited to one interval")
        #expect(track.value(at: at(221)) == nil, "too old")
        #expect(track.value(at: at(1))?.x == 45, "the oldest stored sample is used")
        track.append(Vector3(9, 9, 9), time: at(150))
        #expect(track.value(at: at(200))?.x == 200, "an earlier time is ignored")
    }
}

extension Vector3 {
    var lengthForTest: Double { dot(self).squareRoot() }
}
