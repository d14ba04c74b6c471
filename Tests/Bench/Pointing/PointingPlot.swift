import GimbalCore
import Plot
import Simulation

/// Plots of a walk, a commanded step, a push and tracking: `airframe-bench pointing --plots
/// DIRECTORY`.
enum PointingPlot {
    /// All plots with their file names.
    static func figures() -> [(file: String, figure: Figure)] {
        var walking = PointingRun()
        walking.isCalibrated = true
        walking.seconds = 20
        var step = PointingRun()
        step.motion = .still
        step.isCalibrated = true
        step.seconds = 13
        step.event = .point(AxisVector(yaw: .nan, roll: 0, pitch: 30 * .pi / 180), at: 12)
        var push = step
        push.event = .push(0.020, at: 12)
        return [
            ("pointing-walking.svg", figure(walking, "Walking, seed 1", from: 0)),
            ("pointing-step.svg", figure(step, "A step of 30°", from: 11.9)),
            (
                "pointing-push.svg",
                figure(push, "A constant disturbing torque of 20 mN·m", from: 11.9)
            ),
            ("pointing-tracking.svg", tracking()),
        ]
    }

    /// Plot of tracking: pan and tilt rates are commanded during a walk, then the commands stop.
    private static func tracking() -> Figure {
        let rate = 10 * Double.pi / 180
        var run = PointingRun()
        run.isCalibrated = true
        run.seconds = 20
        run.event = .track(pan: 2 * rate, tilt: rate, from: 12, until: 15)
        let rows = run.run(tracing: true).trace.filter { $0.time >= 11 }
        let isCommanded = Chart.Shade(
            "commands arrive", color: "#cde6d0", holds: rows.map { $0.time >= 12 && $0.time < 15 })
        let isTracking = Chart.Shade(
            "mode \"tracking\", no commands", color: "#f6d5c0",
            holds: rows.map { $0.mode == .tracking && $0.time >= 15 })
        return Figure(
            title: "Tracking while walking, and after the end of the commands",
            subtitle:
                "20 °/s right and 10 °/s down for 3 s; 1 s after the last command the camera is locked",
            label: "time, s", abscissa: rows.map(\.time),
            charts: [
                Chart(
                    title: "Camera", label: "angle, °",
                    lines: [
                        Chart.Line("yaw", color: "#009e73", values: rows.map(\.camera.yaw)),
                        Chart.Line("pitch", color: "#d55e00", values: rows.map(\.camera.pitch)),
                        Chart.Line("roll", color: "#0072b2", values: rows.map(\.camera.roll)),
                    ], shades: [isCommanded, isTracking], least: -5...5)
            ])
    }

    private static func figure(_ run: PointingRun, _ title: String, from start: Double) -> Figure {
        let rows = run.run(tracing: true).trace.filter { $0.time >= start }
        var reference = run
        reference.isPerfect = true
        let perfect = reference.run(tracing: true).trace.filter { $0.time >= start }
        return Figure(
            title: title,
            subtitle: "default plant and tuning, true angles; perfect: true state, no delay",
            label: "time, s", abscissa: rows.map(\.time),
            charts: [
                Chart(
                    title: "Handle", label: "angle, °",
                    lines: [
                        Chart.Line("roll", color: "#0072b2", values: rows.map(\.handle.roll)),
                        Chart.Line("pitch", color: "#d55e00", values: rows.map(\.handle.pitch)),
                    ]),
                Chart(
                    title: "Camera", label: "angle, °",
                    lines: [
                        Chart.Line(
                            "perfect, pitch", color: "#999999",
                            values: perfect.map(\.camera.pitch)),
                        Chart.Line("roll", color: "#0072b2", values: rows.map(\.camera.roll)),
                        Chart.Line("pitch", color: "#d55e00", values: rows.map(\.camera.pitch)),
                    ], least: -0.05...0.05),
                Chart(
                    title: "Motors", label: "torque, N·m",
                    lines: [
                        Chart.Line("roll", color: "#0072b2", values: rows.map(\.torque.roll)),
                        Chart.Line("pitch", color: "#d55e00", values: rows.map(\.torque.pitch)),
                    ]),
            ])
    }
}
