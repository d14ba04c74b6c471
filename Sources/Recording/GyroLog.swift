public import GimbalCore
import PlainText

/// Text of a `.gcsv` file in format 1.3, which Gyroflow reads next to a video of the same name
/// (docs.gyroflow.xyz, "GCSV format").
///
/// Rates are about the camera's axes (x forward, y right, z down); specific force is along these
/// axes. Gyroflow counts time from the first sample. A log therefore begins with an interpolated
/// sample at the first picture.
public struct GyroLog: Sendable {
    /// A sample of the camera's motion.
    public struct Sample: Sendable, Equatable {
        /// Time on the loop's clock, s.
        public var time: Double
        /// Angular rate about the camera's axes, rad/s.
        public var rate: Vector3
        /// Specific force along the camera's axes, m/s².
        public var force: Vector3

        /// Creates a sample.
        public init(time: Double, rate: Vector3, force: Vector3) {
            self.time = time
            self.rate = rate
            self.force = force
        }
    }

    /// Unit of the time, s.
    static let timeScale = 1e-6
    /// Unit of the rates, rad/s.
    static let rateScale = 1e-5
    /// Unit of the specific force, g.
    static let forceScale = 1e-5
    /// Standard gravity, m/s².
    static let gravity = 9.80665

    /// Header of the log: the lines before the samples.
    public let header: Header
    private var previous: Sample?
    private var hasBegun = false

    /// Creates a log without samples.
    public init(_ header: Header) { self.header = header }

    /// Converts the next sample to lines of the log.
    ///
    /// - Parameter sample: The next sample. Samples that are not later than the previous sample are
    ///   omitted, and samples with a value that is not a number or that the format cannot express.
    /// - Returns: Text of one line, or of two lines for the first sample after the first picture;
    ///   empty for an omitted sample. Each line ends with a newline.
    public mutating func lines(for sample: Sample) -> String {
        guard sample.time > previous?.time ?? -.infinity, let line = line(sample) else {
            return ""
        }
        defer { previous = sample }
        guard sample.time >= header.start else { return "" }
        guard !hasBegun else { return line }
        hasBegun = true
        guard sample.time > header.start else { return line }
        let first = Self.interpolated(previous ?? sample, sample, at: header.start)
        return (self.line(first) ?? "") + line
    }

    private static func interpolated(_ a: Sample, _ b: Sample, at time: Double) -> Sample {
        let span = b.time - a.time
        let part = span > 0 ? (time - a.time) / span : 0
        return Sample(
            time: time, rate: a.rate + (b.rate - a.rate) * part,
            force: a.force + (b.force - a.force) * part)
    }

    /// Line of a sample; nil if a value is not finite, or too large for an integer.
    private func line(_ sample: Sample) -> String? {
        let (rate, force) = (sample.rate, sample.force)
        let numbers =
            [(sample.time - header.start) / Self.timeScale]
            + [rate.x, rate.y, rate.z].map { $0 / Self.rateScale }
            + [force.x, force.y, force.z].map { $0 / Self.gravity / Self.forceScale }
        let integers = numbers.compactMap { Int(exactly: $0.rounded()) }
        guard integers.count == numbers.count else { return nil }
        return integers.map { String($0) }.joined(separator: ",") + "\n"
    }
}

extension GyroLog {
    /// Header of a log: the lines before the samples.
    public struct Header: Sendable, Equatable {
        /// Name of the video file.
        public var video: String
        /// Time of the first picture on the loop's clock, s; the log's time 0.
        public var start: Double
        /// Date of the first picture, seconds since 1970.
        public var date: Int
        /// Name of the flight recording with the same motion; nil without a flight recording.
        public var recording: String?

        /// Creates a header.
        public init(video: String, start: Double, date: Int, recording: String? = nil) {
            self.video = video
            self.start = start
            self.date = date
            self.recording = recording
        }

        private static let columns = "t,gx,gy,gz,ax,ay,az"

        /// Text of the header: the lines before the samples, with line ends.
        ///
        /// The letters of `orientation` name the axes that point up, left and back on the camera; a
        /// lower-case letter means the opposite direction. Source: telemetry-parser reads
        /// Betaflight's frame (x forward, y left, z up) as `ZYx`.
        public var text: String {
            """
            GYROFLOW IMU LOG
            version,1.3
            id,airframe
            orientation,zyx
            note,x forward; y right; z down
            timestamp,\(date)
            vendor,airframe
            videofilename,\(video)
            loop_clock_s,\(Format.fixed(start, 6))
            \(recording.map { "flight_recording,\($0)\n" } ?? "")tscale,0.000001
            gscale,0.00001
            ascale,0.00001
            \(Self.columns)

            """
        }

        /// Reads the header and the time of the last sample from the text of a log.
        ///
        /// - Parameter text: Text of a log; it begins with a header in the format of the property
        ///   `text`.
        /// - Returns: The header and the time of the last sample on the loop's clock, s; nil if the
        ///   text is not a log or has no sample.
        public static func read(_ text: String) -> (header: Header, end: Double)? {
            let lines = text.split(separator: "\n")
            guard let head = lines.firstIndex(of: Substring(columns)), head > 0,
                lines[0] == "GYROFLOW IMU LOG"
            else { return nil }
            var values: [Substring: Substring] = [:]
            for line in lines[1..<head] {
                guard let comma = line.firstIndex(of: ",") else { return nil }
                values[line[..<comma]] = line[line.index(after: comma)...]
            }
            // An interrupted recording can end within a line. Therefore lines with missing columns
            // are ignored.
            let last = lines[(head + 1)...].last { $0.count(where: { $0 == "," }) == 6 }
            guard let video = values["videofilename"], let date = values["timestamp"],
                let start = values["loop_clock_s"].flatMap({ Double($0) }), abs(start) < 1e9,
                let last, let end = Double(last.prefix { $0 != "," }), end.isFinite
            else { return nil }
            let header = Header(
                video: String(video), start: start, date: Int(date) ?? 0,
                recording: values["flight_recording"].map(String.init))
            return (header, start + end * timeScale)
        }
    }

    /// Converts the ticks of a recording to lines of the log.
    ///
    /// - Parameters:
    ///   - file: The recording. The recording contains the rates of each tick. If a recording of an
    ///     older version does not contain the specific force, the force counts as 0.
    ///   - end: Time of the last sample on the loop's clock, s.
    ///   - write: Function that receives whole lines of the log.
    /// - Returns: Number of samples after the first picture, and the readable part of the file.
    /// - Throws: The errors of `write`.
    public mutating func convert<Failure: Error>(
        _ file: FlightFile, until end: Double, to write: (String) throws(Failure) -> Void
    ) throws(Failure) -> (samples: Int, outcome: MCAPReader.Outcome) {
        var samples = 0
        var text = ""
        var failure: Failure?
        let outcome = file.read { record, _ in
            guard case .tick(let tick) = record else { return true }
            let sample = tick.motion
            // The last time stamp of a log is rounded to the log's time unit. The comparison
            // therefore allows a tolerance of one unit.
            guard sample.time <= end + Self.timeScale else { return false }
            let lines = self.lines(for: sample)
            if !lines.isEmpty { samples += 1 }
            text += lines
            guard text.utf8.count > 1 << 16 else { return true }
            do throws(Failure) {
                try write(text)
            } catch {
                failure = error
                return false
            }
            text = ""
            return true
        }
        if let failure { throw failure }
        try write(text)
        return (samples, outcome)
    }
}

extension TickMessage {
    /// Motion of the camera in this tick.
    fileprivate var motion: GyroLog.Sample {
        func vector(_ stem: String, _ x: String, _ y: String, _ z: String, _ unit: String)
            -> Vector3
        {
            Vector3(
                shown("\(stem)_\(x)_\(unit)"), shown("\(stem)_\(y)_\(unit)"),
                shown("\(stem)_\(z)_\(unit)"))
        }
        return GyroLog.Sample(
            time: Double(now) * 1e-9,
            rate: vector("rate", "roll", "pitch", "yaw", "dps") * (.pi / 180),
            force: vector("accel", "x", "y", "z", "m_s2"))
    }
}
