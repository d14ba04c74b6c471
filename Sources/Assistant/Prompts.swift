import PlainText
import Wire

/// Instructions for the assistant, which the client receives when it connects.
enum Instructions {
    static let text = """
        This server controls a motorised camera gimbal. Angles are in degrees in the earth frame: yaw right, roll \
        right and pitch up are positive. Read `status` before you move the camera, and tell the person before the \
        motors move. The motors are off in mode inactive. `stop` switches the motors off at once; use `stop` if \
        anything is unclear. Every change of a setting reverts after some time, unless a person saves the change \
        with `airframectl save`. If a request is refused, report the reason to the person, and do not work around \
        the refusal.
        """
}

/// Prompt for a frequent task, which the client offers to the user.
struct Prompt {
    let name: String
    let title: String
    let summary: String
    /// Text of the prompt: the task for the assistant.
    let text: String

    /// All prompts.
    static let all: [Prompt] = [
        Prompt(
            name: "why_does_it_shake", title: "Why does it shake?",
            summary: "Finds the cause of vibration, and proposes a remedy.",
            text: """
                The camera shakes. Find the cause without moving the camera first: call the tools doctor, status and \
                log, and read the manual pages troubleshooting.md and tuning.md. Look at loop_oscillating, the margins of \
                each axis, the check `hum` of doctor, missed ticks and late samples. If none of these values \
                explains the shaking, ask me to hold the gimbal still, and measure the spectrum for 10 s with the \
                tool spectrum. Name the most probable cause with its evidence, then propose one change at a time \
                with the tool `set` (its changes revert automatically), and ask me whether the camera shakes less.
                """),
        Prompt(
            name: "why_are_the_motors_off", title: "Why are the motors off?",
            summary: "Explains the conditions that keep the motors off.",
            text: """
                The motors are off. Call the tools status and doctor, and explain each condition that keeps the motors off, the \
                most severe first, with its remedy from the manual page safety.md. Do not change the mode unless I \
                ask for it.
                """),
        Prompt(
            name: "tune", title: "Tune the gimbal",
            summary:
                "Measures the response of each axis, proposes gains, and applies the gains temporarily.",
            text: """
                Tune the gimbal. First store the present tuning: call the tool baselines with the action store and the name before-assistant. \
                Ask me whether the camera is mounted and balanced, and whether the motors can move now. Then call \
                autotune for one axis at a time, with apply false, until its status is done. Explain the proposed \
                gains and margins. Apply the gains only if I agree: the gains revert after some time, unless I save \
                them with airframectl save.
                """),
    ]

    /// The prompt as `prompts/list` returns it.
    var listing: JSONValue {
        ["name": .string(name), "title": .string(title), "description": .string(summary)]
    }

    /// Answers `prompts/get`.
    ///
    /// - Throws: `invalidParams` for an unknown prompt.
    static func answer(_ params: [String: JSONValue]) throws(RPCFailure) -> [String: JSONValue] {
        guard let name = params["name"]?.string else {
            throw RPCFailure(.invalidParams, "prompts/get needs the name of a prompt.")
        }
        guard let prompt = all.first(where: { $0.name == name }) else {
            throw RPCFailure(
                .invalidParams,
                "There is no prompt \"\(name.prefix(64))\"."
                    + Suggestion.sentence(for: name, in: all.map(\.name)))
        }
        return [
            "description": .string(prompt.summary),
            "messages": [
                ["role": "user", "content": ["type": "text", "text": .string(prompt.text)]]
            ],
        ]
    }
}
