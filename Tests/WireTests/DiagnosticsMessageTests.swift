import Foundation
import Port
import Testing
import Wire

@Suite("Diagnostics messages")
struct DiagnosticsMessageTests {
    private func encoded(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: Array(try JSONEncoder.messages.encode(value)))
    }

    @Test("an empty status is encoded with null values, and decodes to the same status")
    func emptyStatus() throws {
        let status = Status()
        let data = try JSONEncoder.messages.encode(status)
        #expect(try JSONDecoder.messages.decode(Status.self, from: data) == status)
        let json = try JSONValue(parsing: Array(data))
        #expect(json["t"] == .null)
        #expect(json["attitude"]?["quaternion"] == [.null, .null, .null, .null])
        #expect(json["motors"]?["torque_limit_nm"]?["pitch"] == .null)
    }

    @Test("the status has the documented keys")
    func statusKeys() throws {
        var status = Status()
        status.isEnabled = true
        status.holder = "diagnostics client 1"
        status.inhibitions = [Inhibition(name: "imu_stale", sentence: "The IMU is silent.")]
        status.loop.stages = [StageTiming(name: "wake", p50Us: 2, p99Us: 3, maxUs: 4)]
        status.realtime.isPreemptRt = true
        let json = try encoded(status)
        #expect(
            json.object?.keys.sorted() == [
                "attitude", "backend", "clients", "companions", "configuration", "control",
                "enabled",
                "error_deg", "estimator", "faults", "holder", "imu", "inhibitions", "joints",
                "links", "loop", "memory",
                "mode", "motors", "notices", "pointing", "rate_dps", "realtime", "recorder",
                "refusals",
                "setpoint_deg",
                "state", "t", "uptime_s", "version",
            ])
        #expect(json["inhibitions"]?.array?.first?["name"] == "imu_stale")
        #expect(json["loop"]?["stages"]?.array?.first?["p99_us"]?.number == 3)
        #expect(json["realtime"]?["preempt_rt"] == true)
        #expect(json["clients"]?["dropped_messages"] == 0)
    }

    @Test(
        "keys are snake case, and a number that is not finite is encoded as null",
        arguments: [Double.nan, .infinity, -.infinity])
    func numbers(value: Double) throws {
        #expect(try encoded([Number(value)]) == [.null])
        #expect(Number(value) == .unknown)
        let text = String(decoding: try JSONEncoder.messages.encode(Status()), as: UTF8.self)
        #expect(text.contains("\"uptime_s\""))
        #expect(
            text.range(of: "\"[a-z0-9_]*[A-Z][A-Za-z0-9_]*\":", options: .regularExpression) == nil)
    }

    @Test("long texts of a companion's report are shortened to whole characters")
    func longTexts() throws {
        var report = CompanionReport(name: "eyes")
        report.finding = String(repeating: "é", count: 151)
        report.remedy = String(repeating: "a", count: 299) + "é"
        report.capture = CaptureState()
        report.capture?.problem = String(repeating: "é", count: 200)
        #expect(report.params["finding"]?.string == String(repeating: "é", count: 150))
        #expect(report.params["remedy"]?.string == String(repeating: "a", count: 299))
        #expect(report.params["capture"]?["problem"]?.string?.utf8.count == 300)
    }

    @Test("the space of a disk without a limit is limited to a number that airframed accepts")
    func unlimitedDisk() {
        var report = CompanionReport(name: "eyes")
        report.capture = CaptureState()
        report.capture?.freeMb = Number(Double(UInt64.max) * 4096 * 1e-6)
        report.capture?.totalMb = 64_000
        let capture = report.params["capture"]
        #expect(capture?["free_mb"]?.number == 1e12)
        #expect(CaptureState.numbers.contains(capture?["free_mb"]?.number ?? -1))
        #expect(capture?["total_mb"]?.number == 64_000)
        #expect(capture?["recording_s"]?.number == 0)
    }

    @Test("a certificate that is not in use is a warning, and does not hide another problem")
    func certificate() {
        var report = CompanionReport(name: "eyes")
        report.finding = "ready"
        report.note(certificateProblem: nil)
        #expect(report.level == .ok && report.finding == "ready" && report.remedy.isEmpty)
        report.note(certificateProblem: "The key cannot be read.")
        #expect(report.level == .warn && report.remedy == "The key cannot be read.")
        #expect(report.finding == "ready; the changed certificate is not in use")
        (report.level, report.remedy) = (.fail, "Check the cable.")
        report.note(certificateProblem: "The key cannot be read.")
        #expect(report.level == .fail && report.remedy == "Check the cable.")
    }

    @Test("a request is the same after encoding and parsing")
    func request() throws {
        let request = Request(id: 7, method: "point", params: ["pitch": -30, "duration": 2.5])
        #expect(try Request(line: request.line) == request)
        #expect(
            String(decoding: request.line, as: UTF8.self)
                == #"{"id":7,"method":"point","params":{"duration":2.5,"pitch":-30}}"#)
    }

    @Test("a reply and an error are one line each, and a client decodes both")
    func reply() throws {
        var bytes: [UInt8] = []
        ReplyLine.append(
            id: "a", t: 1.5, result: Array("{\"sentence\":\"Done.\"}".utf8), to: &bytes)
        ReplyLine.append(
            id: .null, t: .unknown,
            error: Refusal(.outOfRange, "Too \"far\".\nReally.", field: "yaw"), to: &bytes)
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 2)
        let reply = try JSONDecoder.messages.decode(
            Reply<Acknowledgement>.self, from: Data(lines[0]))
        #expect(reply.id == "a")
        #expect(reply.t == 1.5)
        #expect(reply.result == Acknowledgement("Done."))
        let refusal = try JSONDecoder.messages.decode(
            Reply<Acknowledgement>.self, from: Data(lines[1]))
        #expect(
            refusal.error == RequestError("out_of_range", "Too \"far\".\nReally.", field: "yaw"))
    }

    @Test("a subscription message is one line")
    func message() throws {
        let message = SubscriptionMessage(
            subscription: 2, t: 0.25, dropped: 3, values: ["b": .double(.nan), "a": 1])
        var bytes: [UInt8] = []
        message.write(to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "{\"subscription\":2,\"t\":0.25,\"dropped\":3,\"values\":{\"a\":1,\"b\":null}}\n"
        )
    }
}

extension JSONEncoder {
    /// Encoder with the daemon's key strategy.
    fileprivate static var messages: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        return encoder
    }
}

extension JSONDecoder {
    /// Decoder with the client's key strategy.
    fileprivate static var messages: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom(MessageKey.decoding)
        return decoder
    }
}
