import Testing
import Wire

@testable import airframectl

@Suite("The screen of airframectl monitor")
struct MonitorViewTests {
    private let size = TerminalSize(columns: 80, rows: 24)

    private func moving() -> Status {
        var status = Status()
        status.t = 8042.113
        status.version = "0.1.0"
        status.uptimeS = 8042
        status.backend = "simulated"
        status.mode = "locked"
        status.state = "running"
        status.holder = "diagnostics client 3"
        status.isEnabled = true
        status.attitude.yawDeg = 10.021
        status.attitude.rollDeg = -0.013
        status.attitude.pitchDeg = -30.004
        status.setpointDeg = AxisNumbers(yaw: 10, roll: 0, pitch: -30)
        status.errorDeg = AxisNumbers(yaw: -0.021, roll: 0.013, pitch: 0.004)
        status.rateDps = AxisNumbers(yaw: 0.25, roll: -1.5, pitch: 0)
        status.joints.angleDeg = AxisNumbers(yaw: 12.3, roll: 0, pitch: -27)
        status.joints.source = "encoders"
        status.joints.minimumDeg = AxisNumbers(yaw: -170, roll: -45, pitch: -120)
        status.joints.maximumDeg = AxisNumbers(yaw: 170, roll: 45, pitch: 45)
        status.motors.torqueNm = AxisNumbers(yaw: 0.125, roll: -0.25, pitch: 0)
        status.motors.torqueLimitNm = AxisNumbers(yaw: 0.25, roll: 0.25, pitch: 0.25)
        status.loop.stages = ["wake", "estimate", "imu_to_motor"].map {
            StageTiming(name: $0, p50Us: 2.41, p99Us: 12.3, maxUs: 104.9)
        }
        return status
    }

    @Test("while a stop is latched, the last line states how to end it")
    func stopped() {
        var status = moving()
        status.stoppedBy = "diagnostics client 3"
        let last = MonitorView(status: status).render(size).last
        #expect(last?.contains("airframectl stop --reset in another terminal") == true)
        #expect(last?.hasSuffix("q quit") == true)
    }

    @Test("at 80 by 24 characters, every line fits, and the most important lines are as expected")
    func golden() {
        var view = MonitorView(status: moving())
        for error in [0.0, 0.005, 0.01, 0.02] {
            view.history.add(AxisNumbers(yaw: Number(error), roll: 0, pitch: .unknown))
        }
        let lines = view.render(size)
        #expect(lines.count == 24)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let expected = [
            (0, " airframed 0.1.0  simulated, up 2 h 14 min                          t 8042.11 s "),
            (2, " ● MOVING   locked, running, held by diagnostics client 3"),
            (3, "   - The motors are on; the largest attitude error is 0.021°."),
            (6, "              attitude   set-point       error        rate  |err| to 0.02°, 2 s"),
            (7, " yaw           +10.02°     +10.00°     -0.021°     +0.3°/s                  ▁▃▅█"),
            (8, " roll           -0.01°       0.00°     +0.013°     -1.5°/s                  ▁▁▁▁"),
            (9, " pitch         -30.00°     -30.00°     +0.004°      0.0°/s                      "),
            (12, " yaw          +12.3°   -170…170°     +0.1250  ±0.250  [           │██████     ]"),
            (13, " roll           0.0°     -45…45°     -0.2500  ±0.250  [◀██████████│           ]"),
            (18, " µs              wake  estimate imu→motor"),
            (19, " p50              2.4       2.4       2.4"),
        ]
        for (row, text) in expected { #expect(lines[row] == text) }
    }

    @Test(
        "the agreement of filter and sensor is shown on one line at 80 by 24, on three lines at 100 by 30"
    )
    func sensing() {
        var status = moving()
        status.estimator.accelWeight = 0.87
        status.estimator.innovation = 1.21
        status.estimator.inclinationSigmaDeg = 0.12
        status.imu.accelVibrationMS2 = 0.34
        status.imu.gyroVibrationDps = 1.26
        status.imu.gyroSaturatedSamples = 12
        status.imu.accelClippedSamples = 3
        let small = MonitorView(status: status).render(size)
        #expect(
            small[16]
                == " filter    weight 0.87, innov. 1.21, vibration 0.34 m/s² 1.26 °/s, clipped 12/3"
        )
        let large = MonitorView(status: status).render(TerminalSize(columns: 100, rows: 30))
        #expect(large.count <= 30)
        #expect(large.allSatisfy { $0.count <= 100 })
        #expect(
            large.contains(
                " filter    accel weight 0.87, innovation 1.21, inclination ± 0.12°"))
        #expect(
            large.contains(
                " vibration 0.34 m/s², 1.26 °/s; full scale gyro 12, accel 3 samples"))
    }

    @Test("the last row is always the list of the keys, or the answer to a key")
    func lastRow() {
        let small = TerminalSize(columns: 80, rows: 12)
        var view = MonitorView(status: Status())
        #expect(view.render(small).count == 12)
        #expect(view.render(small).last?.contains("q quit") == true)
        view.answer = "The loop does not accept the stop."
        #expect(view.render(small).last == " The loop does not accept the stop.")
    }

    @Test("conditions that do not prevent motion are shown with their names")
    func notices() {
        var status = Status()
        status.isEnabled = true
        status.notices = [Inhibition(name: "motor_stalled", sentence: "A motor is blocked.")]
        let line = "- motor_stalled: A motor is blocked."
        #expect(MonitorView(status: status).render(size).contains { $0.contains(line) })
        #expect(StatusView.lines(status, Style.plain).contains(line))
    }

    @Test("unknown numbers are dashes, and the columns keep their positions")
    func unknown() {
        let lines = MonitorView(status: Status()).render(size)
        #expect(lines.count == 24)
        #expect(lines[7].hasPrefix(" yaw                –°          –°          –°        –°/s"))
        #expect(lines[12].contains("–…–°"))
        #expect(lines[12].contains("[···········│···········]"))
        #expect(!lines.joined().lowercased().contains("nan"))
    }

    @Test("the reason why the camera does not move is shown as a sentence")
    func inhibited() {
        var status = moving()
        status.isEnabled = false
        status.inhibitions = [
            Inhibition(name: "imu_stale", sentence: "No IMU sample for 120 ms: check the cable."),
            Inhibition(name: "inactive_mode", sentence: "The mode is inactive."),
        ]
        let lines = MonitorView(status: status).render(size)
        #expect(lines[2].contains("NOT MOVING"))
        #expect(lines[3] == "   - imu_stale: No IMU sample for 120 ms: check the cable.")
        #expect(lines[4] == "   - inactive_mode: The mode is inactive.")
    }

    @Test("reasons that do not fit are counted, and the lines below keep their positions")
    func manyReasons() {
        var status = moving()
        status.inhibitions = (1...6).map { Inhibition(name: "x", sentence: "Reason \($0).") }
        let lines = MonitorView(status: status).render(size)
        #expect(lines[5] == "     … and 4 more lines: airframectl status")
        #expect(lines[7].hasPrefix(" yaw"))
        #expect(
            MonitorView(status: status).render(TerminalSize(columns: 80, rows: 40))[8].contains(
                "Reason 6"))
    }

    @Test("a lost connection is reported, and the last values stay visible")
    func lost() {
        var view = MonitorView(status: moving())
        view.trouble = "Nobody answers."
        let lines = view.render(size)
        #expect(lines[2].contains("LOST, RECONNECTING"))
        #expect(lines[3] == "   - Nobody answers.")
        #expect(lines[7].contains("+10.02°"))
    }

    @Test(
        "the screen fits any terminal size",
        arguments: [
            TerminalSize(columns: 20, rows: 5), TerminalSize(columns: 1, rows: 1),
            TerminalSize(columns: 200, rows: 60), TerminalSize(columns: 0, rows: 0),
        ])
    func fits(size: TerminalSize) {
        for style in [Style.plain, Style(isColoured: true)] {
            let lines = MonitorView(status: moving(), style: style).render(size)
            #expect(lines.count <= size.rows)
            for line in lines { #expect(Self.visible(line) <= size.columns) }
        }
    }

    @Test("the last line lists the keys, and temporarily shows the daemon's answer to a key")
    func foot() {
        var view = MonitorView(status: moving())
        #expect(view.render(size).last?.hasPrefix(" space STOP  c centre") == true)
        view.answer = "Emergency stop: the motors stay off until the stop is reset."
        #expect(
            view.render(size).last
                == " Emergency stop: the motors stay off until the stop is reset.")
    }

    @Test("keys request the stop, the centre and the modes; other keys send no request")
    func keys() {
        func request(_ key: Character) -> (method: Method, params: [String: JSONValue])? {
            MonitorKey.request(key.asciiValue ?? 0)
        }
        #expect(request(" ")?.method == .stop)
        #expect(request("p")?.params == ["mode": "pan_follow"])
        let bound = (0...255).filter { MonitorKey.request(UInt8($0)) != nil }
        #expect(bound.count == 8)
        #expect(MonitorKey.leaving.isDisjoint(with: bound.map(UInt8.init)))
    }

    @Test(
        "the emergency stop and Ctrl-C count as keys also together with an arrow key, whose letters do not",
        arguments: [
            ("\u{1B}[A ", " "), (" \u{1B}OA", " "), ("\u{1B}[1;5C\u{3}", "\u{3}"),
            ("\u{1B}[A\u{1B}[B", ""), ("lp q", "lp q"),
        ])
    func batch(typed: String, keys: String) {
        #expect(Terminal.keys(in: Array(typed.utf8)) == Array(keys.utf8))
    }

    @Test("the key c leaves the direction of the handle to the daemon, which knows it now")
    func centre() {
        let request = MonitorKey.request(UInt8(ascii: "c"))
        #expect(request?.method == .recentre)
        #expect(request?.params.isEmpty == true)
    }

    @Test("colours do not change the text")
    func colour() {
        let plain = MonitorView(status: moving()).render(size)
        let coloured = MonitorView(status: moving(), style: Style(isColoured: true)).render(size)
        #expect(coloured != plain)
        #expect(coloured.map(Self.stripped) == plain)
    }

    private static func stripped(_ line: String) -> String {
        line.replacing(/\u{1B}[0-9]*\[[0-9;]*m/, with: "")
    }

    private static func visible(_ line: String) -> Int { stripped(line).count }
}
