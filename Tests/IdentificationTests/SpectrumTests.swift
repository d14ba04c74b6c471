import GimbalCore
import Simulation
import Testing

@testable import Identification

@Suite("Spectra")
struct SpectrumTests {
    @Test(
        "the fast Fourier transform agrees with the definition of the discrete one",
        arguments: [2, 8, 64])
    func definition(count: Int) {
        var random = RandomSource(seed: 3, stream: 1)
        let x = (0..<count).map { _ in random.gaussian() }
        let y = (0..<count).map { _ in random.gaussian() }
        var (real, imaginary) = (x, y)
        FourierTransform(count: count).transform(&real, &imaginary)
        for k in 0..<count {
            var sum = Complex(0)
            for n in 0..<count {
                let turn = Complex(phase: -2 * .pi * Double(k * n) / Double(count))
                sum = sum + Complex(x[n], y[n]) * turn
            }
            #expect(abs(real[k] - sum.real) < 1e-10 && abs(imaginary[k] - sum.imaginary) < 1e-10)
        }
    }

    @Test("the density of white noise is flat, and adds up to the variance")
    func whiteNoise() throws {
        var random = RandomSource(seed: 1, stream: 2)
        let noise = (0..<20_000).map { _ in 2 * random.gaussian() }
        let spectrum = try #require(PowerSpectrum(of: noise, sampleRate: 1000))
        #expect(spectrum.density.count == 513)
        let total = spectrum.density.reduce(0, +) * spectrum.resolution
        #expect(abs(total - 4) < 0.2)
        let low = spectrum.density[10..<100].reduce(0, +) / 90
        #expect(abs(low - 4.0 / 500) < 0.1 * 4 / 500)
        #expect(SpectralPeak.find(in: spectrum).isEmpty)
    }

    @Test("too few samples, or no samples, have no spectrum")
    func tooShort() {
        #expect(PowerSpectrum(of: [], sampleRate: 1000) == nil)
        #expect(PowerSpectrum(of: [1, 2, 3], sampleRate: 1000) == nil)
    }

    @Test(
        "a motor's vibration is found within one bin, with its amplitude, and a notch is proposed")
    func vibration() throws {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = .servo
        parameters.imu.vibrationHz = 83.4
        parameters.imu.gyroVibration = Vector3(0, 0.02, 0)
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
        var samples: [Double] = []
        var times: [Instant] = []
        gimbal.advance(to: Instant(nanoseconds: 4_000_000_000)) {
            samples.append($0.gyro.y)
            times.append($0.time)
        }
        let rate = Double(samples.count - 1) / times[times.count - 1].seconds(since: times[0])
        let spectrum = try #require(PowerSpectrum(of: samples, sampleRate: rate))
        let peak = try #require(SpectralPeak.find(in: spectrum).first)
        #expect(abs(peak.hz - 83.4) < spectrum.resolution)
        // The sensor's own low-pass filter of 230 Hz leaves 94 %.
        #expect(abs(peak.rms - 0.94 * 0.02 / 2.0.squareRoot()) < 0.001, "\(peak)")
        let notches = SpectralPeak.notches(for: [peak], below: 400)
        #expect(notches.count == 1 && abs(notches[0].hz - 83.4) < 1)
        #expect(SpectralPeak.notches(for: [peak], below: 50).isEmpty)
    }

    @Test("a notch is proposed only if its rounded centre is below the limit")
    func roundedCentre() {
        func notches(_ hz: Double) -> [Notch] {
            let peak = SpectralPeak(hz: hz, density: 1, prominence: 20, rms: 1)
            return SpectralPeak.notches(for: [peak], below: 90)
        }
        #expect(notches(89.97).isEmpty)
        #expect(notches(89.93).map(\.hz) == [89.9])
    }
}
