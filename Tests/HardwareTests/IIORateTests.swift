import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

@Suite("Rate and filter of a sensor with a driver in the kernel")
struct IIORateTests {
    /// Executes the set-up of the only device; returns the interval of its samples, s.
    private static func period(
        _ kernel: MadeUpIIO, _ request: IIORequest, _ wanted: [IIOQuantity]
    ) throws -> Double {
        let device = try #require(IIODevice.all(in: kernel.tree).first)
        var setUp = IIOSetUp(kernel.tree, device, wanted: wanted, request: request)
        var decoder: IIODecoder?
        for _ in 0..<10 where decoder == nil { decoder = try setUp.advance() }
        _ = try #require(decoder)
        return setUp.period
    }

    @Test("a driver that accepts a higher rate than it lists gets the requested rate")
    func unlisted() throws {
        let kernel = MadeUpIIO()
        // The kernel's inv_mpu6050 lists rates up to 500 Hz, and accepts 1000 Hz.
        kernel.addMPU()
        let period = try Self.period(kernel, IIORequest(), [.gyroscope, .accelerometer])
        #expect(period == 0.001)
        #expect(kernel.text("iio:device0/sampling_frequency") == "1000")
    }

    @Test("rates that a driver lists for the whole device apply to the gyroscope's rate")
    func listOfDevice() throws {
        let kernel = MadeUpIIO()
        // The files of the kernel's bmg160.
        kernel.add(
            0, name: "bmg160", channels: MadeUpIIO.axes("anglvel", "le:s16/16>>0"),
            files: [
                "in_anglvel_scale": "0.001065", "in_anglvel_sampling_frequency": "100",
                "sampling_frequency_available": "100 200 400 1000 2000",
            ])
        var request = IIORequest()
        request.rate = 500
        #expect(try Self.period(kernel, request, [.gyroscope]) == 0.001)
        #expect(kernel.text("iio:device0/in_anglvel_sampling_frequency") == "1000")
    }

    @Test("a filter that a chip has only at a lower rate is refused")
    func filterReducesRate() throws {
        let kernel = MadeUpIIO()
        let filter = "in_anglvel_filter_low_pass_3db_frequency"
        kernel.add(
            0, name: "bmg160", channels: MadeUpIIO.axes("anglvel", "le:s16/16>>0"),
            files: ["in_anglvel_scale": "0.001065", "in_anglvel_sampling_frequency": "100"])
        // One register of this chip contains both values: the last write determines both.
        let folder = "\(kernel.tree.devices)/iio:device0"
        symlink("\(folder)/in_anglvel_sampling_frequency", "\(folder)/\(filter)")
        var request = IIORequest()
        request.lowPass = 47
        #expect(throws: IIOFailure.self) { try Self.period(kernel, request, [.gyroscope]) }
        request.lowPass = 1000
        #expect(try Self.period(kernel, request, [.gyroscope]) == 0.001)
    }

    /// Keys of the settings that the driver cannot use, after the set-up of the sensor.
    private static func ignored(_ kernel: MadeUpIIO, _ request: IIORequest) throws -> [String] {
        var wiring = IIOWiring()
        wiring.tree = kernel.tree
        wiring.request = request
        let report = SensorReport()
        let sensor = IIOSensor(wiring, report: report)
        var now = Instant(nanoseconds: 5_000_000_000)
        for _ in 0..<40 where !report.isRunning {
            now = now.advanced(bySeconds: 0.002)
            var batch = SampleBatch()
            try sensor.read(into: &batch, time: now, now: now)
        }
        try #require(report.isRunning, "\(report.lastFailure ?? "")")
        return report.ignoredSettings
    }

    @Test("a filter and a trigger that the driver does not have are reported")
    func ignoredSettings() throws {
        let kernel = MadeUpIIO()
        kernel.addMPU()
        var request = IIORequest()
        #expect(try Self.ignored(kernel, request).isEmpty)
        request.lowPass = 100
        #expect(try Self.ignored(kernel, request) == ["hardware.iio.low_pass_hz"])
        request.trigger = "timer"
        #expect(
            try Self.ignored(kernel, request) == [
                "hardware.iio.low_pass_hz", "hardware.iio.trigger",
            ])
        // The accelerometer of this chip has no filter that can be set.
        kernel.write("100", to: "iio:device0/in_anglvel_filter_low_pass_3db_frequency")
        kernel.write("timer", to: "iio:device0/trigger/current_trigger")
        kernel.write("timer", to: "trigger0/name")
        #expect(try Self.ignored(kernel, request).isEmpty)
    }
}
