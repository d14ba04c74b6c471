import ArgumentParser
import PlainText

/// Command that lists the connected cameras and the chosen pipeline.
struct CamerasCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameras",
        abstract: "List cameras and encoders, and show which of them the settings select.")

    @OptionGroup var options: EyesOptions

    func run() throws {
        let settings = try options.load()
        try VideoLibrary.start()
        let cameras = Camera.connected()
        for camera in cameras { Self.lines(of: camera).forEach { print($0) } }
        if cameras.isEmpty { print("No camera is connected.") }
        let choice = CameraChoice(settings.video, among: cameras)
        let encoder = Encoder(settings.video.encoder)
        print("source: \(choice)".visible)
        if case .drawn(let reason?) = choice { print("reason: \(reason)".visible) }
        print("encoder: \(encoder?.rawValue ?? "none is installed")")
        if let pipeline = FeedPipeline(choice, settings.video, encoder: encoder) {
            print("pipeline: \(pipeline.text)".visible)
        }
    }

    /// Lines that describe a camera. A camera's name can contain characters that control a
    /// terminal.
    static func lines(of camera: Camera) -> [String] {
        let modes = camera.modes.map { mode in
            let rate = mode.rates.map(\.upperBound).max().map { " at up to \($0) Hz" } ?? ""
            return "  \(mode.description)\(rate)"
        }
        let name = "\(camera.name) (\(camera.interface.rawValue))"
        return (["\(name): video.device = \"\(camera.path)\""] + modes).map(\.visible)
    }
}

extension CameraMode: CustomStringConvertible {
    /// Text for display, such as "JPEG 160...1920 x 120...1080".
    public var description: String {
        let name =
            switch coding {
            case .h264: "H.264"
            case .jpeg: "JPEG"
            case .raw(let format): format
            }
        func span(_ range: ClosedRange<Int>) -> String {
            range.lowerBound == range.upperBound
                ? "\(range.lowerBound)" : "\(range.lowerBound)...\(range.upperBound)"
        }
        return "\(name) \(span(widths))x\(span(heights))"
    }
}
