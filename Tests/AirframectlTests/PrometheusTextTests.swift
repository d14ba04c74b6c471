import Testing
import Wire

@testable import airframectl

@Suite("airframectl metrics") struct PrometheusTextTests {
    private func lines(_ change: (inout Status) -> Void = { _ in }) -> [String] {
        var status = Status()
        change(&status)
        return PrometheusText(status).lines
    }

    @Test("every metric has one HELP and one TYPE line before its values")
    func order() {
        let lines = lines {
            $0.attitude.pitchDeg = -12.5
            $0.loop.stages = [StageTiming(name: "bus", p50Us: 100, p99Us: 200, maxUs: 1000)]
        }
        var seen: Set<Substring> = []
        var current: Substring = ""
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# HELP ") {
                current = words[2]
                #expect(seen.insert(current).inserted, "\(line)")
            } else {
                #expect((line.hasPrefix("# TYPE ") ? words[2] : words[0]).hasPrefix(current))
            }
        }
        #expect(lines.contains(#"airframe_attitude_degrees{axis="pitch"} -12.5"#))
        #expect(lines.contains(#"airframe_loop_stage_seconds{quantile="1",stage="bus"} 0.001"#))
        #expect(lines.contains("airframe_up 1.0"))
    }

    @Test("unknown values are left out, and counters have the suffix _total")
    func unknown() {
        let lines = lines()
        #expect(!lines.contains { $0.contains("nan") || $0.contains("uptime") })
        for line in lines where line.hasPrefix("# TYPE ") {
            #expect(line.hasSuffix("counter") == line.contains("_total "), "\(line)")
        }
    }

    @Test("battery and wheels have metrics only if they exist")
    func power() {
        #expect(!lines().contains { $0.contains("battery") || $0.contains("wheels") })
        let lines = lines {
            var battery = BatteryStatus()
            battery.percent = 80
            $0.battery = battery
            var drive = WheelStatus(board: "xgo")
            drive.xgo = XGOStatus(port: "/dev/ttyAMA0")
            drive.xgo?.problem = "the robot has fallen"
            $0.drive = drive
        }
        #expect(lines.contains("airframe_battery_charge_ratio 0.8"))
        #expect(lines.contains("airframe_wheels_ready 0.0"))
        #expect(!lines.contains { $0.contains("battery_voltage") })
    }

    @Test("a failure of the flight recorder is a metric, unless the recorder is off")
    func recorder() {
        #expect(!lines().contains { $0.contains("recorder") })
        let working = lines { $0.recorder.isEnabled = true }
        #expect(working.contains("airframe_recorder_failed 0.0"))
        #expect(working.contains("airframe_recorder_lost_chunks_total 0.0"))
        let failed = lines {
            $0.recorder.isEnabled = true
            $0.recorder.problem = "No space left on device"
            $0.recorder.lostChunks = 7
        }
        #expect(failed.contains("airframe_recorder_failed 1.0"))
        #expect(failed.contains("airframe_recorder_lost_chunks_total 7.0"))
    }

    @Test("labels are escaped")
    func labels() {
        let lines = lines {
            $0.version = "1\"\\\n2"
        }
        #expect(lines.contains { $0.contains(#"version="1\"\\\n2""#) })
    }
}
