import Client
import GimbalCore
import Glibc
import TestSupport
import Testing
import Wire

@Suite("The page in Chromium: setup wizard", .serialized, .timeLimit(.minutes(2)), hasBrowser)
struct WizardTests {
    @Test("the wizard guides the user through every step until the camera is level")
    func wizard() throws {
        try withPage(isHeld: true) { rig, _, page in
            let held = try #require(rig.held)
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("setup")
            try #require(try page.wait(open("sensors")) != nil)
            try press("sensors", "The chips are correct", page)
            try #require(try page.wait(open("gyro")) != nil)
            // Opens the step again, and skips it before the page has read the chips' settings.
            try page.value("document.querySelector('[data-step=sensors]').open = true")
            try press("sensors", "Skip this step", page)
            try #require(try page.wait(open("gyro")) != nil)
            try calibrate("gyro", until: open("mounting"), rig, page)
            // Reloads the page. The wizard resumes at the same step.
            try page.call("Page.reload")
            try #require(try page.wait(open("mounting")) != nil)
            try calibrate("mounting", until: open("accelerometer"), rig, page)
            try calibrate("accelerometer", until: open("motors"), rig, page)
            held.hold(nil)
            try moveMotors(held, page)
            try press("joints", "Skip this step", page)
            try press("locked", "Switch on (locked)", page)
            try press("locked", "The camera is held still", page)
            // The motors are on, so the page measures the imbalance.
            let isBalanced =
                "document.querySelector('[data-step=balance]').textContent.includes('forward and backward: balanced')"
            try #require(try page.wait(isBalanced) != nil)
            try press("balance", "The camera is balanced", page)
            try press("save", "Save", page)
            let isFinished =
                "document.querySelector('main').textContent.includes('All steps are finished')"
            try #require(try page.wait(isFinished) != nil)
            #expect(try rig.status()["mode"] == "locked")
            let saved = try rig.ask("calibrate")["saved"]?.array ?? []
            #expect(
                Set(saved.compactMap { $0["what"]?.string }) == [
                    "gyro", "accelerometer", "mounting",
                ]
            )
            // Without the calibration of the mounting, the camera would be tilted by 3 degrees. The
            // limit is in simulated time, because a busy computer simulates more slowly.
            // The tilt decreases slowly and trembles, so it is read only once.
            let end = held.now + 16
            var tilt = Double.infinity
            _ = eventually(within: 60) {
                tilt = held.tiltDeg
                return tilt < 0.3 || held.now > end
            }
            let attitude = try rig.status()["attitude"]?.text ?? ""
            #expect(tilt < 0.3, "\(held.now) s: \(attitude)")
            // A step that is undone is no longer marked as finished.
            try page.value("document.querySelector('[data-step=gyro]').open = true")
            try press("gyro", "Undo this step", page)
            let isOpen = "document.querySelector('[data-step=gyro] .mark').textContent === '○'"
            try #require(try page.wait(isOpen) != nil)
            let rest = try rig.ask("calibrate")["saved"]?.array ?? []
            #expect(!rest.contains { $0["what"]?.string == "gyro" }, "\(rest)")
            let steps = try rig.ask("setup")["steps"]?.array ?? []
            let open = steps.filter { $0["state"]?.string == "open" }
            #expect(open.map { $0["name"]?.string } == ["gyro"])
        }
    }

    @Test("a calibration that the user leaves before its start is answered is cancelled")
    func leftCalibration() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("setup")
            try #require(try page.wait(open("sensors")) != nil)
            // This calibration needs six poses, so it cannot end before the cancellation on a busy
            // computer.
            try page.value("document.querySelector('[data-step=accelerometer]').open = true")
            // The start is on its way for 0.3 s, in which the user closes the step.
            try page.value(
                """
                (window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  const { method, params } = JSON.parse(text);
                  const isStart = method === "calibrate" && params.action === "start";
                  if (isStart) document.querySelector("[data-step=accelerometer]").open = false;
                  setTimeout(() => window.send.call(this, text), isStart ? 300 : 0);
                }, 1)
                """)
            try press("accelerometer", "Start", page)
            var state: JSONValue?
            let isCancelled = eventually(within: 8) {
                state = (try? rig.ask("calibrate"))?["state"]
                return state == "cancelled"
            }
            #expect(isCancelled, "\(state?.text ?? "no answer")")
        }
    }

    @Test("a motor does not move if the user leaves its step before the stabilisation has ended")
    func leftMotor() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("setup")
            try #require(try page.wait(open("sensors")) != nil)
            #expect(try rig.status()["mode"]?.string != "inactive")
            try page.value("document.querySelector('[data-step=motors]').open = true")
            try #require(try page.wait("document.querySelector('[data-motor=pitch]')") != nil)
            // The request is on its way for 0.3 s, in which the user closes the step.
            try page.value(
                """
                (window.tests = 0, window.send = WebSocket.prototype.send,
                WebSocket.prototype.send = function (text) {
                  const { method } = JSON.parse(text);
                  if (method === "motor_test") window.tests += 1;
                  const isMode = method === "mode";
                  if (isMode) document.querySelector("[data-step=motors]").open = false;
                  setTimeout(() => window.send.call(this, text), isMode ? 300 : 0);
                }, 1)
                """)
            try page.value("document.querySelector('[data-motor=pitch]').click()")
            #expect(eventually(within: 8) { (try? rig.status()["mode"]?.string) == "inactive" })
            usleep(500_000)
            #expect(try page.value("window.tests") == 0)
        }
    }

    @Test("the step for the chips shows an error of the bus only while transfers fail")
    func earlierError() throws {
        try withPage { _, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            try page.show("setup")
            try #require(try page.wait(open("sensors")) != nil)
            // Each status contains an error of the bus, and these conditions.
            func report(_ conditions: String) throws {
                try page.value(
                    """
                    (window.parse ??= JSON.parse, JSON.parse = (text) => {
                      const message = window.parse(text);
                      if (message?.result?.faults) {
                        message.result.faults.last_error = "no answer of the chip";
                        message.result.inhibitions = \(conditions);
                      }
                      return message;
                    }, 1)
                    """)
            }
            let line = "document.querySelector('[data-step=sensors] ul.plain li:last-child')"
            try report(#"[{ name: "bus_error", sentence: "Transfers fail." }]"#)
            let problem = "\(line)?.textContent === 'Problem: no answer of the chip'"
            #expect(try page.wait(problem) != nil)
            try report("[]")
            #expect(
                try page.wait("\(line).matches('.good') && \(line).textContent.includes('samples')")
                    != nil)
            #expect(page.errors == [])
        }
    }

    @Test("a step that another connection prevents from starting offers to end the other step")
    func busy() throws {
        try withPage { rig, _, page in
            try #require(try page.wait(Chromium.Page.isReady) != nil)
            let other = try DaemonClient(path: rig.socket, timeout: 5)
            _ = try other.json("mode", ["mode": "inactive"])
            func start() throws {
                _ = try other.json("calibrate", ["action": "start", "what": "accelerometer"])
            }
            func isCancelled() -> Bool {
                eventually(within: 8) { (try? rig.ask("calibrate"))?["state"] == "cancelled" }
            }
            try page.show("setup")
            try #require(try page.wait(open("sensors")) != nil)
            for (step, text) in [("gyro", "Start"), ("joints", "Measure the joints")] {
                try start()
                try page.value("document.querySelector('[data-step=\(step)]').open = true")
                try press(step, text, page)
                try press(step, "Cancel it", page)
                try press(step, "Cancel it?", page)
                #expect(isCancelled(), "\(step)")
            }
            #expect(page.errors == [])
            withExtendedLifetime(other) {}
        }
    }

    /// Puts the camera into the poses that a calibration requires, until the next step is open.
    /// Checks that the page marks the measured poses.
    private func calibrate(
        _ step: String, until next: String, _ rig: Rig, _ page: Chromium.Page
    ) throws {
        // A page that was just loaded is not connected yet, and cannot start the calibration.
        let hasStarted = eventually(within: 15) {
            if (try? rig.ask("calibrate"))?["what"]?.string == step { return true }
            try? press(step, "Start", page)
            return eventually(within: 1) {
                (try? rig.ask("calibrate"))?["what"]?.string == step
            }
        }
        try #require(hasStarted, "\(step)")
        // The limit is in simulated time, which is up to four times as fast as real time.
        let end = (rig.held?.now ?? .nan) + 80
        let measured = "document.querySelectorAll('[data-step=\(step)] figcaption.good').length"
        var marks = 0
        while try page.value("Boolean(\(next))") != true {
            let report = try rig.ask("calibrate")
            if let pose = report["missing"]?.array?.first?.string { rig.held?.hold(pose) }
            marks = max(marks, try page.value(measured).int ?? 0)
            try #require((rig.held?.now ?? .nan) < end, "\(step): \(report.text)")
            usleep(50_000)
        }
        let poses = ["gyro": 0, "accelerometer": 6, "mounting": 2][step] ?? 0
        #expect(marks >= poses - 1, "\(step): the page has marked \(marks) of \(poses) poses")
    }

    /// Moves each motor, and answers the page's question from the true joint angles.
    private func moveMotors(_ held: HeldGimbal, _ page: Chromium.Page) throws {
        try #require(try page.wait(open("motors")) != nil)
        for (axis, joint) in [("pitch", \AxisVector.pitch), ("roll", \.roll), ("yaw", \.yaw)] {
            _ = held.takeLargestJoints()
            try press("motors", "Move \(axis)", page)
            var largest = AxisVector.zero
            let hasMoved = eventually(within: 8) {
                let joints = held.takeLargestJoints()
                largest[keyPath: joint] = max(largest[keyPath: joint], joints[keyPath: joint])
                return largest[keyPath: joint] > 2
            }
            #expect(hasMoved, "\(axis): \(largest[keyPath: joint])°")
            usleep(400_000)
            try page.value("document.querySelector('[name=motor-\(axis)][value=yes]').click()")
        }
        try press("motors", "All motors turn correctly", page)
    }

    private func open(_ step: String) -> String {
        "document.querySelector('[data-step=\(step)]')?.open"
    }

    private func press(_ step: String, _ text: String, _ page: Chromium.Page) throws {
        let button =
            "[...document.querySelectorAll('[data-step=\(step)] button')].find((b) => b.textContent === '\(text)' && !b.disabled)"
        try #require(try page.wait(button) != nil, "\(step): \(text)")
        try page.value("\(button).click()")
    }
}
