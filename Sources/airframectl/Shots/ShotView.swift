import PlainText
import Plot
import Shots

/// Text and picture of a shot's plan.
enum ShotView {
    /// Summary of a plan as lines of text.
    static func lines(_ plan: ShotPlan) -> [String] {
        let forecast = ShotForecast(plan)
        var lines = [
            "\(title(plan)): \(Format.count(plan.photos)) photos, about \(Format.duration(forecast.duration))."
        ]
        if case .panorama(let panorama) = plan.recipe.kind {
            lines += panorama.grid.rows.map { row in
                "  row at pitch \(Format.right(Format.fixed(row.pitch, 1), 6))°: \(row.columns) photos"
            }
        }
        if case .timelapse(let timelapse) = plan.recipe.kind {
            // The forecast's departure is the time of the photo, plus the pause after the photo.
            let hold = plan.recipe.shutter.hold
            let late = zip(plan.frames, forecast.times).contains { frame, time in
                frame.due.map { time.departure - hold > $0 + timelapse.interval / 2 } ?? false
            }
            if late {
                lines.append(
                    "  The interval of \(Format.plain(timelapse.interval)) s is too short for the moves and pauses; photos will be late."
                )
            }
        }
        lines.append("  Shutter: \(shutter(plan.recipe.shutter)).")
        return lines
    }

    /// Kind of the shot as a title.
    static func title(_ plan: ShotPlan) -> String {
        switch plan.recipe.kind {
        case .keyFrames: "Key frames"
        case .panorama: "Panorama"
        case .timelapse: "Time-lapse"
        case .orbit: "Orbit"
        }
    }

    private static func shutter(_ shutter: ShutterSettings) -> String {
        switch shutter.kind {
        case .none: "none"
        case .command: shutter.command.joined(separator: " ")
        case .gpio: "line \(shutter.line) of \(shutter.chip)"
        case .eyes: "airframe-eyes"
        case .mavlink: "MAVLink camera at \(shutter.address)"
        }
    }

    /// Picture of a plan: a map of the photos, and plots of yaw and pitch over time.
    static func figure(_ plan: ShotPlan) -> Figure {
        let forecast = ShotForecast(plan)
        var outlines: [[FieldMap.Point]] = []
        let photos = plan.frames.filter { $0.photo != nil }
        if case .panorama(let panorama) = plan.recipe.kind {
            outlines = photos.map { frame in
                panorama.camera.outline(of: frame.pose).map { ($0.yaw, $0.elevation) }
            }
        }
        // The time axis of a long shot is in minutes.
        let (unit, name) = forecast.duration > 600 ? (60.0, "min") : (1.0, "s")
        var times: [Double] = []
        var poses: [Pose] = []
        for (frame, time) in zip(plan.frames, forecast.times) {
            times += [time.arrival / unit, time.departure / unit]
            poses += [frame.pose, frame.pose]
        }
        func line(_ name: String, _ color: String, _ value: (Pose) -> Double) -> Chart.Line {
            Chart.Line(name, color: color, values: poses.map(value), breaksAt: 180)
        }
        var figure = Figure(
            title: title(plan),
            subtitle:
                "\(Format.count(plan.photos)) photos, about \(Format.duration(forecast.duration))",
            label: "time, \(name)", abscissa: times,
            charts: [
                Chart(
                    title: "Camera", label: "°",
                    lines: [
                        line("yaw", "#0072b2") { $0.yaw }, line("pitch", "#d55e00") { $0.pitch },
                        line("roll", "#009e73") { $0.roll },
                    ])
            ])
        figure.map = FieldMap(
            title: (outlines.isEmpty ? "Directions" : "Pictures") + ": pitch versus yaw, degrees",
            outlines: outlines, places: photos.map { ($0.pose.yaw, $0.pose.pitch) },
            path: plan.frames.map { ($0.pose.yaw, $0.pose.pitch) })
        return figure
    }
}
