import ArgumentParser
import CVideo
import Client
import PlainText

/// Command that measures the latency of a stream of the test picture.
struct LatencyCommand: ParsableCommand {
    /// Limit of the 99th percentile of the time from exposure to RTP packet, ms.
    static let barMs = 100.0

    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure the latency of a test-picture stream that this computer produces.",
        discussion: """
            The test picture contains the time of its exposure. This command plays the stream, and compares \
            this time with the arrival of the picture's last RTP packet. The command works only on the computer that \
            produces the stream, because both times must come from the same clock.
            Exit codes: 0 the 99th percentile is at most \(Int(barMs)) ms; 1 this percentile is larger, or no picture has arrived.
            """)

    @Option(help: "Address of the stream.")
    var url = "rtsp://127.0.0.1:8554/stream"

    /// Permitted durations of the measurement, s.
    private static let durations = 0.1...3600

    @Option(help: "Duration of the measurement, 0.1...3600 s.")
    var seconds = 10.0

    @Option(help: "Transport of the packets, tcp or udp.")
    var transport = "udp"

    func validate() throws {
        guard Self.durations.contains(seconds) else {
            throw ValidationError("--seconds must be a number in 0.1...3600.")
        }
    }

    func run() throws {
        guard let transport = Player.Transport(rawValue: transport) else {
            throw ValidationError("--transport must be tcp or udp.")
        }
        try VideoLibrary.start()
        let measured: LatencyFigures
        do throws(VideoError) {
            measured = try LatencyFigures(url, over: transport, seconds: seconds)
        } catch {
            Log.write(
                "\(url) cannot be played: \(error.description). Start the stream: make run-eyes, or sudo systemctl start airframe-eyes."
            )
            throw ExitCode(1)
        }
        print(measured.text)
        guard let worst = measured.packet?.percentile(99), worst <= Self.barMs else {
            throw ExitCode(1)
        }
    }
}

/// Latency of the pictures of a stream.
struct LatencyFigures {
    /// Sorted latencies, ms.
    struct Distribution {
        let sorted: [Double]

        /// Sorts the values for the percentiles; nil if there are no values.
        init?(_ values: [Double]) {
            guard !values.isEmpty else { return nil }
            sorted = values.sorted()
        }

        func percentile(_ percent: Double) -> Double {
            sorted[Int((Double(sorted.count - 1) * percent / 100).rounded())]
        }

        var text: String {
            [("median", 50.0), ("99 %", 99), ("largest", 100)].map {
                "\($0.0) \(Format.fixed(percentile($0.1), 1)) ms"
            }.joined(separator: ", ")
        }
    }

    /// Latency from a picture's exposure to its last RTP packet; nil if it was not measured.
    let packet: Distribution?
    /// Latency from a picture's exposure to the end of its decoding; nil if it was not measured.
    let decoded: Distribution?
    let pictures: Int
    let size: String

    /// Plays a stream, and measures its latencies. The first second is excluded, because a player
    /// first receives old pictures.
    init(_ url: String, over transport: Player.Transport, seconds: Double) throws(VideoError) {
        let player = try Player(url, over: transport)
        var (packets, decodes): ([Double], [Double]) = ([], [])
        var (count, size) = (0, "")
        let connectBy = cv_now() + 15_000_000_000
        var start: Int64?
        while true {
            let now = cv_now()
            if let start, Double(now - start) * 1e-9 > 1 + seconds { break }
            guard let picture = try player.next(within: 0.5) else {
                if start == nil, now > connectBy { break }
                continue
            }
            let begin = start ?? now
            start = begin
            guard Double(now - begin) * 1e-9 > 1 else { continue }
            count += 1
            size = "\(picture.width)x\(picture.height)"
            if let age = picture.packetAge { packets.append(Double(age) * 1e-6) }
            if let age = picture.decodedAge { decodes.append(Double(age) * 1e-6) }
        }
        packet = Distribution(packets)
        decoded = Distribution(decodes)
        pictures = count
        self.size = size
    }

    /// The latencies as text for display.
    var text: String {
        guard let packet, let decoded else {
            return
                "\(pictures) pictures, none with a time code: does the stream show the test picture (video.source = \"test\")?"
        }
        return """
            \(pictures) pictures with a size of \(size)
            exposure to RTP packet:      \(packet.text) (limit: 99 % within \(Format.fixed(LatencyCommand.barMs, 0)) ms)
            exposure to decoded picture: \(decoded.text)
            """
    }
}
