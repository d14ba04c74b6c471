import Configuration
import GimbalCore
import Identification
import Testing

@Suite("Values that autotune can propose are within the ranges of the settings")
struct AutotuneRangeTests {
    private let store = ParameterStore(LoadedConfiguration())

    /// Ten values from the first to the last value of a range.
    private func values(_ range: ClosedRange<Double>) -> [Double] {
        let span = range.upperBound - range.lowerBound
        return (0..<9).map { range.lowerBound + span * Double($0) / 9 } + [range.upperBound]
    }

    @Test("every delay that autotune can find gives permitted gains of torque motors")
    func torque() throws {
        for delay in values(PlantModel.delays) {
            let design = GainDesign(inertia: 2.5e-3, delay: delay, lead: 0)
            _ = try store.changed([
                SettingUpdate(
                    \.control.attitudeGain, AxisVector(repeating: design.attitudeGain)),
                SettingUpdate(\.control.rateGain, AxisVector(repeating: design.rateGain)),
                SettingUpdate(
                    \.control.rateIntegralGain, AxisVector(repeating: design.rateIntegralGain)),
                SettingUpdate(
                    \.control.rateDerivativeGain,
                    AxisVector(repeating: design.rateDerivativeGain)),
                SettingUpdate(\.control.derivativeCutoffHz, design.derivativeCutoffHz),
                SettingUpdate(\.control.loopDelayMs, delay * 1e3),
            ])
        }
    }

    @Test("every delay and lag that autotune can find give permitted settings of servos")
    func servos() throws {
        var present = ServoController.Parameters()
        present.sensorDelay = 0
        for delay in values(ServoResponse.delays) {
            for lag in values(ServoResponse.lags) {
                let design = ServoDesign(
                    present: present, model: ServoResponse(delay: delay, lag: lag), axis: .pitch,
                    lead: 0
                ).parameters
                _ = try store.changed([
                    SettingUpdate(\.servo.delayMs, design.delay * 1e3),
                    SettingUpdate(\.servo.lagMs, design.lag * 1e3),
                    SettingUpdate(\.servo.trackerBandwidth, design.trackerBandwidth),
                ])
            }
        }
    }
}
