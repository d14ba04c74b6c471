import ArgumentParser
import Client
import Glibc
import PlainText
import Recording
import SystemPackage
import Wire

/// Functions that open recordings for commands.
enum RecordedFile {
    static func open(_ path: String) throws(ClientError) -> FlightFile {
        do throws(FlightFileError) {
            return try FlightFile(path: FilePath(path))
        } catch {
            throw .file(error.description, field: "file")
        }
    }

    /// Prints the messages about unreadable parts of the file.
    static func tell(_ outcome: MCAPReader.Outcome, of path: String) {
        for remark in outcome.remarks { Output.error("\(path): \(remark)") }
    }
}

struct RecordInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show the contents of a recording: channels, versions, events.")

    @Flag(help: "Print JSON.")
    var json = false
    @Argument(help: "The recording.", completion: .file(extensions: ["mcap"]))
    var file: String

    func run() throws {
        let recording = try RecordedFile.open(file)
        let series = FlightSeries(recording)
        if json {
            return Output.line(Self.document(recording, series).text)
        }
        RecordedFile.tell(series.outcome, of: file)
        var table = Table()
        for (name, value) in recording.metadata.sorted(by: { $0.key < $1.key }) {
            table.add(.init(name), .init(value))
        }
        let start = series.start.map { Format.date(Double($0) * 1e-9) } ?? "–"
        table.add(.init("begins"), .init(start))
        table.add(.init("length"), .init("\(Format.fixed(series.seconds, 3)) s"))
        for (topic, count) in series.counts.sorted(by: { $0.key < $1.key }) {
            table.add(.init(topic), .init("\(Format.count(count)) messages"))
        }
        for attachment in recording.attachments {
            table.add(.init(attachment.name), .init("\(attachment.data.count) bytes"))
        }
        table.lines(.forOutput()).forEach(Output.line)
        for event in series.events {
            Output.line(RecordPlot.line(event) + (event.isFault ? "  (fault)" : ""))
        }
    }

    private static func document(_ recording: FlightFile, _ series: FlightSeries) -> JSONValue {
        .object([
            "metadata": .object(recording.metadata.mapValues(JSONValue.string)),
            "seconds": .double(series.seconds),
            "counts": .object(series.counts.mapValues(JSONValue.int)),
            "attachments": .array(recording.attachments.map { .string($0.name) }),
            "complete": .bool(series.outcome.isComplete),
            "remarks": .array(series.outcome.remarks.map(JSONValue.string)),
            "events": .array(
                series.events.map {
                    .object([
                        "t": .double($0.time), "name": .string($0.name), "what": .string($0.what),
                        "fault": .bool($0.isFault), "end": .double($0.end),
                        "count": .int($0.count),
                    ])
                }),
        ])
    }
}

struct RecordPlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot",
        abstract: "Draw attitude, error, torque, timing and events of a recording.")

    @Option(help: "Also draw the plot into this file, as SVG.", completion: .file())
    var svg: String?
    @Argument(help: "The recording.", completion: .file(extensions: ["mcap"]))
    var file: String

    func run() throws {
        let recording = try RecordedFile.open(file)
        let series = FlightSeries(recording)
        RecordedFile.tell(series.outcome, of: file)
        guard !series.times.isEmpty else {
            throw ClientError.file(
                "\(file): the recording contains no ticks, so there is nothing to draw.",
                field: "file")
        }
        let name = FilePath(file).lastComponent?.string ?? file
        RecordPlot.lines(series, .forOutput()).forEach(Output.line)
        guard let svg else { return }
        try SVGFile.write(
            RecordPlot.figure(series, name: name, metadata: recording.metadata), to: svg)
        Output.line("\(svg): the plot as SVG.")
    }
}

struct RecordExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a channel of a recording as a CSV file.")

    @Option(
        help: "File to write, as comma-separated values; - for standard output.",
        completion: .file())
    var csv: String
    @Option(
        help: "Channel: tick, sample, command or event.",
        completion: .list(FlightTable.Channel.allCases.map(\.rawValue)),
        transform: { text in
            guard let channel = FlightTable.Channel(rawValue: text) else {
                throw ValidationError("--channel must be tick, sample, command or event.")
            }
            return channel
        })
    var channel = FlightTable.Channel.tick
    @Argument(help: "The recording.", completion: .file(extensions: ["mcap"]))
    var file: String

    func run() throws {
        let recording = try RecordedFile.open(file)
        do {
            let table = try TableFile(csv, input: file)
            let result = try FlightTable.write(channel, of: recording) { bytes in
                try table.write(bytes)
            }
            try table.close()
            RecordedFile.tell(result.outcome, of: file)
            guard csv != "-" else { return }
            Output.line("\(csv): \(Format.count(result.lines)) lines of /\(channel.rawValue).")
        } catch let error as ClientError {
            throw error
        } catch {
            throw ClientError.file("\(csv): \(error) while writing", field: "csv")
        }
    }
}
