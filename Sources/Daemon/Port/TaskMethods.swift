import Calibration
import Configuration
import GimbalCore
import Links
import PlainText
import Policy
import Port
import Realtime
import Wire

/// The socket's methods for tasks that take time; a task ends when its connection ends.
struct TaskMethods: Sendable {
    let tuning: Tuning
    let commander: Commander
    let calibration: CalibrationService
    let spectra: SpectrumService
    let autotuning: AutotuneService
    let setup: SetupService
    /// The flight recorder; nil if it is off.
    let recorder: FlightRecorder?
    let logStore: LogStore
    /// The Bluetooth server; nil if Bluetooth is off.
    let radio: BluetoothServer?
    let clock: LoopClock

    private static let measurement = Parameter.action(
        ["status", "start", "cancel"], "`status` changes nothing.")

    var methods: [SocketMethod] {
        [
            .saving(
                "calibrate",
                "Runs a guided calibration, which ends when the connection ends; status reports its progress.",
                [
                    .action(["status", "start", "cancel", "undo"], "`status` changes nothing."),
                    .word(
                        "what", of: CalibrationKind.allCases.map(\.rawValue),
                        "Kind of the calibration, for the actions `start` and `undo`."),
                ], isWrite: false, calibrate
            ).answering(CalibrationReport.self),
            .task(
                "spectrum", "Measures the spectrum of the gyroscope.",
                [
                    Self.measurement,
                    .number(
                        "seconds", in: 3...60, unit: "seconds",
                        "Length of the measurement; default: 10."),
                ]
            ) { (parameters, caller) throws(Refusal) in
                let seconds = try parameters.number("seconds") ?? 10
                let action = try parameters.action()
                if action == "status" { return spectra.status }
                try caller.requireWrite()
                if action == "cancel" { return spectra.cancel() }
                return try spectra.start(
                    seconds: seconds, owner: caller.source, now: clock.now)
            }.answering(SpectrumReport.self),
            .task(
                "autotune",
                "Shakes an axis slightly, measures it, and proposes gains; ends when the connection ends.",
                [
                    Self.measurement,
                    .text("axis", "Axis for the action `start`: yaw, roll, pitch or all."),
                    .bool("apply", "If true, the proposed gains are applied temporarily."),
                ], autotune
            ).answering(AutotuneReport.self),
            SetupMethods(setup: setup, clock: clock).method,
            .task(
                "record", "Controls the flight recorder.",
                [
                    .action(
                        ["status", "last", "start", "stop"],
                        "`status` changes nothing; `last` saves the most recent seconds to a file."),
                    .number(
                        "seconds", in: 0.1...600, unit: "seconds",
                        "For \"last\", length of the recording, default: 60; for \"start\", time before the start that the recording also contains."
                    ),
                    .bool(
                        "attached",
                        "For \"start\": if true, the recording stops when the connection ends. For \"stop\": if true, only an attached recording of this connection stops."
                    ),
                ], record
            ).answering(RecorderStatus.self),
            .task(
                "pair", "Lists paired phones, allows pairing, or removes a phone.",
                [
                    .action(["status", "allow", "forget"], "`status` changes nothing."),
                    .number(
                        "seconds", in: 0...PairingTime.range.upperBound, unit: "seconds",
                        "Time during which phones can pair; 0 ends the pairing; default: 120."),
                    .text("address", "Bluetooth address of the phone, for the action \"forget\"."),
                ], pair),
            .question(
                "log", "Returns lines of the log.",
                [
                    .integer(
                        "since", in: 0...Int.max,
                        "Number of the first line: `next` in the previous answer; default: the newest lines."
                    ),
                    .integer("limit", in: 1...200, "Number of lines; default: 100."),
                ]
            ) { (parameters, _) throws(Refusal) in
                logStore.page(
                    since: try parameters.integer("since"),
                    limit: try parameters.integer("limit") ?? 100)
            }.answering(LogPage.self),
        ]
    }

    @Sendable private func calibrate(
        _ parameters: Parameters, _ caller: SocketMethod.Caller,
        _ done: @escaping Later<CalibrationReport>
    ) throws(Refusal) {
        let kind = try parameters.word("what").flatMap(CalibrationKind.init)
        let action = try parameters.action()
        if action == "status" { return done(.success(calibration.status())) }
        if action == "start", kind == nil { throw parameters.missing("what") }
        try caller.requireWrite()
        switch (action, kind) {
        case ("start", let kind?):
            try takeControl(for: caller)
            done(
                Result { () throws(Refusal) in
                    try calibration.start(
                        kind, owner: caller.source, by: caller.client.description, now: clock.now)
                })
        case ("undo", _):
            try caller.requirePerson(for: "calibrate undo")
            calibration.undo(kind, by: caller.client.description, done)
        default: done(.success(calibration.cancel()))
        }
    }

    /// Gives control to an assistant before a task that moves the camera, or that needs the camera
    /// at rest.
    ///
    /// - Throws: `Refusal` if a person is in control.
    private func takeControl(for caller: SocketMethod.Caller) throws(Refusal) {
        guard caller.client.isAssistant else { return }
        try commander.request(.take, from: caller.source, now: clock.now)
    }

    @Sendable private func autotune(
        _ parameters: Parameters, _ caller: SocketMethod.Caller
    ) throws(Refusal) -> SocketMethod.Answer {
        let action = try parameters.action()
        if action == "status" { return autotuning.status }
        guard action == "start" else {
            try caller.requireWrite()
            return autotuning.cancel()
        }
        let names = GimbalAxis.allCases.map(\.name)
        guard let axis = try parameters.string("axis") else { throw parameters.missing("axis") }
        guard axis == "all" || names.contains(axis) else {
            throw Refusal(
                .invalidParams,
                "axis must be yaw, roll, pitch or all, not \"\(axis.prefix(64))\"."
                    + Suggestion.sentence(for: axis, in: names + ["all"]),
                field: "axis")
        }
        let apply = try parameters.bool("apply") ?? false
        try caller.requireWrite()
        try takeControl(for: caller)
        return try autotuning.start(
            axes: GimbalAxis.allCases.filter { axis == "all" || $0.name == axis }, apply: apply,
            owner: caller.source, author: (caller.client.description, caller.changeOwner),
            now: clock.now)
    }

    @Sendable private func record(
        _ parameters: Parameters, _ caller: SocketMethod.Caller
    ) throws(Refusal) -> SocketMethod.Answer {
        let seconds = try parameters.number("seconds")
        let action = try parameters.action()
        if action != "status" { try caller.requireWrite() }
        guard let recorder else {
            if action == "status" { return RecorderStatus() }
            throw Refusal(
                .refused, "The recorder is off: set recording.enabled = true and restart airframed."
            )
        }
        let owner = try parameters.bool("attached") == true ? caller.client.id : nil
        switch action {
        case "last": return recorder.record(last: seconds ?? 60)
        case "start": return recorder.setRecording(true, past: seconds ?? 0, owner: owner)
        case "stop":
            return owner.map { recorder.endRecording(of: $0) } ?? recorder.setRecording(false)
        default: return recorder.status
        }
    }

    @Sendable private func pair(
        _ parameters: Parameters, _ caller: SocketMethod.Caller
    ) throws(Refusal) -> SocketMethod.Answer {
        let seconds = try parameters.number("seconds") ?? PairingTime.usual
        let action = try parameters.action()
        let address = action == "forget" ? try parameters.requiredString("address") : ""
        if action != "status" {
            try caller.requireWrite()
            try caller.requirePerson(for: "pair \(action)")
        }
        guard let radio else {
            throw Refusal(
                .refused,
                tuning.settings.bluetooth.enabled
                    ? "Bluetooth is off while a simulator supplies the clock."
                    : "Bluetooth is off: set bluetooth.enabled = true and restart airframed.")
        }
        let status = caller.mayPair ? radio.pairingStatus : radio.status
        if action == "allow" {
            guard status.security == BluetoothConfiguration.Security.encrypted.rawValue else {
                throw Refusal(
                    .refused,
                    "Phones do not need to pair: bluetooth.security is \"\(status.security)\". Set bluetooth.security = \"encrypted\" and restart airframed."
                )
            }
            radio.allowPairing(seconds: seconds)
        } else if action == "forget" {
            guard status.bonds.contains(where: { $0.address == address }) else {
                let known = status.bonds.map(\.address).joined(separator: ", ")
                throw Refusal(
                    .refused,
                    "\(address.prefix(32)) is not paired. "
                        + (known.isEmpty ? "No phone is paired." : "Paired phones: \(known)."),
                    field: "address")
            }
            radio.forget(address: address)
        }
        return status
    }
}
