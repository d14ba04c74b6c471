import GimbalCore
import Links
import Port
import Realtime
import Synchronization
import Wire

/// Users' commands for the companion program that records video (airframe-eyes). Each answer to a
/// report from the program contains the oldest command that the program has not executed. The
/// daemon forwards the program's settings as text, without checking them.
final class CameraOrders: Sendable {
    /// Largest number of commands in the queue.
    static let limit = 8
    /// Largest number of settings in a command, and largest length of a setting, bytes.
    static let settingLimit = 16
    static let textLimit = 300
    /// Timeout of a command, s; a command that has not been executed by then is dropped.
    static let seconds = 3.0

    private struct Entry {
        var client: Int
        var order: CameraOrder
        var time: Instant
    }

    private let state = Mutex<(waiting: [Entry], count: Int)>(([], 0))

    /// Adds a command to the queue.
    ///
    /// - Parameters:
    ///   - action: Action of the command.
    ///   - settings: `KEY=VALUE` for `set`.
    ///   - companions: The companion programs, one of which records video.
    ///   - now: Present time.
    /// - Returns: Sequence number of the command.
    /// - Throws: `Refusal` if no companion program records video, or if the queue is full.
    func add(
        _ action: CameraOrder.Action, _ settings: [String] = [], for companions: Companions,
        now: Instant
    ) throws(Refusal) -> Int {
        guard let client = companions.camera(now: now)?.client else {
            throw Refusal(
                .refused,
                "no program that records video is connected: start airframe-eyes, and see airframectl doctor"
            )
        }
        let number = state.withLock { state -> Int? in
            state.waiting.removeAll { now.seconds(since: $0.time) > Self.seconds }
            guard state.waiting.count < Self.limit else { return nil }
            state.count += 1
            let order = CameraOrder(number: state.count, action: action, settings: settings)
            state.waiting.append(Entry(client: client, order: order, time: now))
            return state.count
        }
        guard let number else {
            throw Refusal(
                .tooMany,
                "\(Self.limit) commands for the camera have not been executed yet; try again.")
        }
        return number
    }

    /// The oldest command that a companion program has not executed.
    ///
    /// - Parameters:
    ///   - client: Connection of the companion program.
    ///   - done: Sequence number of the newest command that the program has executed.
    ///   - now: Present time.
    /// - Returns: The command; nil if the queue contains no command for this program.
    func next(for client: Int, done: Int, now: Instant) -> CameraOrder? {
        state.withLock { state in
            state.waiting.removeAll {
                $0.client == client && $0.order.number <= done
                    || now.seconds(since: $0.time) > Self.seconds
            }
            return state.waiting.first { $0.client == client }?.order
        }
    }
}

/// Method `camera` of the socket, with which users send commands to the camera.
struct CameraMethods: Sendable {
    let companions: Companions

    var method: SocketMethod {
        let words = CameraOrder.Action.allCases.map(\.rawValue)
        return .change(
            "camera",
            "Takes a photo, records video, or changes settings of the program that records video.",
            [
                .word("action", of: words, required: true, "Action that the program executes."),
                .texts("settings", "Settings as KEY=VALUE, for the action \"set\"."),
            ]
        ) { [self] (parameters, caller) throws(Refusal) in
            guard let action = CameraOrder.Action(rawValue: try parameters.word("action") ?? "")
            else {
                throw Refusal(
                    .invalidParams, "camera needs action: \(words.joined(separator: ", ")).",
                    field: "action")
            }
            if action == .set { try caller.requirePerson(for: "camera set") }
            let number = try companions.orders.add(
                action, try settings(parameters, isNeeded: action == .set), for: companions,
                now: MonotonicClock.now)
            return CameraReply(
                "The command has been forwarded to airframe-eyes; `status` contains the result, in the field `capture` of the companion entry of airframe-eyes.",
                number: number)
        }.answering(CameraReply.self)
    }

    private func settings(_ parameters: Parameters, isNeeded: Bool) throws(Refusal) -> [String] {
        let list = parameters.value("settings")?.array ?? []
        let texts = list.compactMap(\.string)
        guard texts.count == list.count, texts.count <= CameraOrders.settingLimit,
            texts.allSatisfy({ (1...CameraOrders.textLimit).contains($0.utf8.count) }),
            texts.isEmpty != isNeeded
        else {
            throw Refusal(
                .invalidParams,
                "The action \"set\" needs settings, a list of 1 to \(CameraOrders.settingLimit) strings KEY=VALUE; other actions must not have settings.",
                field: "settings")
        }
        return texts
    }
}
