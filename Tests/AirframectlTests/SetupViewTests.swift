import Testing
import Wire

@testable import airframectl

@Suite("Output of airframectl setup")
struct SetupViewTests {
    private func running(_ progress: Double, _ sentence: String = "") -> SetupStep {
        var step = SetupStep(name: "gyro", title: "Calibrate the gyroscope")
        step.state = SetupStep.State.running.rawValue
        step.instruction = "Put the camera down."
        step.progress = Number(progress)
        step.sentence = sentence
        return step
    }

    @Test("a line shows the present progress, also after the measurement has begun again")
    func progress() {
        var view = SetupView()
        #expect(view.lines(for: running(0)) == ["  Put the camera down.", "  0 %"])
        #expect(view.lines(for: running(0.05)) == [])
        #expect(view.lines(for: running(0.81)) == ["  80 %"])
        #expect(view.lines(for: running(0.7)) == [])
        #expect(
            view.lines(for: running(0, "The camera shakes (3.1 °/s)."))
                == ["  0 %  The camera shakes (3.1 °/s)."])
        #expect(view.lines(for: running(0, "The camera shakes (2.9 °/s).")) == [])
        #expect(view.lines(for: running(0.11)) == ["  10 %"])
        #expect(view.lines(for: running(0.25)) == ["  20 %"])
    }

    @Test("the progress of the next instruction begins again")
    func nextInstruction() {
        var view = SetupView()
        _ = view.lines(for: running(0.6))
        var next = running(0.1)
        next.instruction = "Turn the camera over."
        #expect(view.lines(for: next) == ["  Turn the camera over.", "  10 %"])
    }
}
