import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

/// `airframectl record`: commands for the flight recorder and its files.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract:
            "Write the last seconds of flight data to a file, record continuously, inspect recordings.",
        discussion: """
            The recorder always keeps the last seconds of the loop's inputs, state and outputs in memory, and writes them \
            to a file automatically when a fault occurs. The files have the format MCAP: Foxglove and PlotJuggler can open them, and `airframectl replay` runs the control loop on them again.
            """,
        subcommands: [
            RecordLastCommand.self, RecordStartCommand.self, RecordStopCommand.self,
            RecordStatusCommand.self, RecordInfoCommand.self, RecordPlotCommand.self,
            RecordExportCommand.self, RecordGyroflowCommand.self,
        ],
        defaultSubcommand: RecordLastCommand.self)
}

struct RecordLastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "last",
        abstract:
            "Write the last seconds of the recording in memory to a file, for example: record --last 30s."
    )

    @OptionGroup var options: GlobalOptions
    @Option(
        name: .customLong("last"),
        help:
            "Length of the recording, which ends at the present moment: 30s, 1min, or a number of seconds."
    )
    var duration: SetCommand.Duration?

    func validate() throws {
        if let duration, !(0.1...600).contains(duration.seconds) {
            throw ValidationError("--last must be 0.1 to 600 seconds.")
        }
    }

    func run() throws {
        let client = try options.connect()
        let status: RecorderStatus = try client.request(
            .record, ["action": "last", "seconds": .double(duration?.seconds ?? 60)])
        try NewRecording.show(status, client, options)
    }
}

struct RecordStartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Begin a continuous recording.")
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let status: RecorderStatus = try options.connect().request(.record, ["action": "start"])
        if options.json { return try Output.json(status) }
        Output.line("Recording to \(status.directory); `airframectl record stop` ends it.")
    }
}

struct RecordStopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End a continuous recording.")
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let client = try options.connect()
        let before: RecorderStatus = try client.request(.record)
        let status: RecorderStatus = try client.request(.record, ["action": "stop"])
        // The newest file is the result of this command only if a recording has ended.
        guard before.isRecording || before.finished < before.requested else {
            if options.json { return try Output.json(status) }
            return Output.line("No continuous recording is running.")
        }
        try NewRecording.show(status, client, options)
    }
}

/// File that the recorder writes after a request.
private enum NewRecording {
    /// Interval between two checks whether the file is complete, µs.
    private static let period: UInt32 = 50_000

    /// Waits until the file is complete, and prints its name.
    ///
    /// - Parameters:
    ///   - answer: The recorder's answer to the request.
    ///   - client: Connection to the daemon.
    ///   - options: Options of the command.
    /// - Throws: `ClientError` if the disk does not store the file.
    static func show(
        _ answer: RecorderStatus, _ client: DaemonClient, _ options: GlobalOptions
    ) throws {
        var status = answer
        let end = DaemonClient.now() + max(options.timeout, 30)
        while status.finished < answer.requested, DaemonClient.now() < end {
            usleep(period)
            status = try client.request(.record)
        }
        guard status.finished >= answer.requested else {
            throw ClientError.timeout(
                "The disk has not stored the recording yet: \(status.directory).")
        }
        if let problem = status.problem { throw ClientError.file(problem, field: "file") }
        if options.json { return try Output.json(status) }
        Output.line(status.lastFile ?? "there is no recording")
    }
}

struct RecordStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the recorder's state and its files.")
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let status: RecorderStatus = try options.connect().request(.record)
        if options.json { return try Output.json(status) }
        RecorderView.lines(status).forEach(Output.line)
        if let problem = status.problem { Output.error("airframectl: \(problem)") }
    }
}

/// Text of the recorder's state.
enum RecorderView {
    /// One line for `status`, such as `49 of 60 s in 11.2 MB; recording to …; 3 files, 12.0 MB in
    /// …`.
    static func summary(_ status: RecorderStatus) -> String {
        guard status.isEnabled else { return "off (recording.enabled)" }
        let open = status.openFile.map { "; recording to \($0), \(megabytes(status.openBytes))" }
        return
            "\(Format.fixed(status.heldS.value, 0)) of \(Format.fixed(status.ringS.value, 0)) s in \(megabytes(status.memoryBytes))"
            + (open ?? (status.isRecording ? "; recording waits for the disk" : ""))
            + "; \(Format.count(status.files)) files, \(megabytes(status.fileBytes))"
            + (status.lostTicks > 0 ? "; \(Format.count(status.lostTicks)) ticks lost" : "")
            + (status.problem == nil ? "" : "; CANNOT WRITE")
    }

    static func lines(_ status: RecorderStatus) -> [String] {
        var table = Table()
        table.add(.init("memory"), .init(summary(status)))
        table.add(.init("directory"), .init(status.directory))
        table.add(
            .init("faults"), .init("\(Format.count(status.faults)) written to disk since the start")
        )
        if let file = status.lastFile { table.add(.init("newest"), .init(file)) }
        if status.lostChunks > 0 {
            table.add(
                .init("lost"),
                .init(
                    "\(Format.count(status.lostChunks)) gaps in a continuous recording; each gap is at most 0.5 s long"
                ))
        }
        return table.lines(.forOutput())
    }

    static func megabytes(_ bytes: Int) -> String { "\(Format.fixed(Double(bytes) / 1e6, 1)) MB" }
}
