import Links
import PlainText
import Policy
import Port
import Realtime
import Wire

/// The socket's method for the set-up, see `SetupService`.
struct SetupMethods: Sendable {
    let setup: SetupService
    let clock: LoopClock

    var method: SocketMethod {
        .saving(
            "setup",
            "Runs the steps from wired parts to a stabilised camera; a step that moves motors ends when the connection ends.",
            [
                .action(
                    ["status", "start", "confirm", "skip", "undo", "cancel", "again"],
                    "`status` changes nothing; `confirm` marks a step as done after a person has checked its result."
                ),
                .word(
                    "step", of: SetupStepName.allCases.map(\.rawValue),
                    "Step, for the actions `start`, `confirm`, `skip` and `undo`."),
            ], isWrite: false, run
        ).answering(SetupReport.self)
    }

    @Sendable private func run(
        _ parameters: Parameters, _ caller: SocketMethod.Caller,
        _ done: @escaping Later<SetupReport>
    ) throws(Refusal) {
        let step = try parameters.word("step").flatMap(SetupStepName.init)
        let action = try parameters.action()
        if action == "status" { return done(.success(setup.report())) }
        if ["start", "confirm", "skip", "undo"].contains(action), step == nil {
            throw parameters.missing("step")
        }
        try caller.requireWrite()
        try caller.requirePerson(for: "setup \(action)")
        let who = caller.client.description
        let answer: Later<Void> = { result in done(result.map { setup.report() }) }
        switch (action, step) {
        case ("start", let step?):
            try setup.start(step, owner: caller.source, who: who, now: clock.now)
            done(.success(setup.report()))
        case ("confirm", let step?):
            try setup.mark(step, as: .done, who: who, now: clock.now, answer)
        case ("skip", let step?):
            try setup.mark(step, as: .skipped, who: who, now: clock.now, answer)
        case ("undo", let step?): try setup.undo(step, who: who, now: clock.now, answer)
        case ("again", _): setup.forget(who: who, now: clock.now, answer)
        default:
            setup.cancel(now: clock.now)
            done(.success(setup.report()))
        }
    }
}
