import GimbalCore
import Testing

@testable import Configuration

@Suite("Bindings of gamepad buttons, sticks and keys") struct ControlBindingTests {
    @Test("all default bindings are valid, and their text can be parsed again")
    func defaults() throws {
        let bindings = Settings().controls.bindings
        #expect(bindings.count == 21)
        #expect(ControlBinding.repetition(in: bindings) == nil)
        for binding in bindings {
            #expect(try ControlBinding(parsing: "\(binding)") == binding)
        }
        #expect("\(bindings[1])" == "ABS_Y: -pitch")
        #expect("\(bindings[3])" == "BTN_SOUTH hold: mode locked while held")
    }

    @Test(
        "the text of every action can be parsed, and stays the same",
        arguments: [
            "BTN_0 tap: mode retract", "BTN_TRIGGER_HAPPY40 double: mode next",
            "KEY_700 triple: recentre", "ABS_HAT0X- press: step yaw -5.5", "KEY_CAMERA tap: record",
            "BTN_SELECT press: stop", "BTN_START hold: reset_stop", "REL_DIAL+ step: profile next",
            "BTN_TL tap: profile sport-2", "BTN_TL press: mode fpv while held", "ABS_RX: -roll",
        ])
    func actions(text: String) throws {
        #expect("\(try ControlBinding(parsing: text))" == text)
    }

    @Test(
        "an invalid binding is refused, and the message names the wrong part",
        arguments: [
            ("BTN_SOUTH", "no colon"), ("BTN_NOWHERE tap: stop", "BTN_NOWHERE"),
            ("BTN_SOUTH poke: stop", "poke"), ("BTN_SOUTH tap: explode", "explode"),
            ("BTN_SOUTH tap: mode tracking", "mode tracking"), ("BTN_SOUTH tap: yaw", "stick"),
            ("ABS_X tap: stop", "stick"), ("ABS_X: stop", "stick"), ("BTN_SOUTH: stop", "gesture"),
            ("REL_DIAL+ tap: stop", "dial"), ("BTN_TL tap: mode fpv while held", "while held"),
            ("BTN_TL tap: step yaw 500", "step yaw 500"), ("BTN_TL tap: profile a/b", "a/b"),
            ("KEY_0 tap: stop", "KEY_0"), ("KEY_768 tap: stop", "KEY_768"),
        ])
    func nonsense(text: String, part: String) {
        let misfit = #expect(throws: ControlBinding.BindingError.self) {
            try ControlBinding(parsing: text)
        }
        #expect(misfit?.reason.contains(part) == true, "\(misfit?.reason ?? "")")
    }

    @Test("the setting is an array of strings, and a control with two bindings is refused")
    func setting() throws {
        let (_, value) = try ConfigurationLoader.value(
            of: "controls.bindings", text: #"["BTN_TL tap: stop", "ABS_X: yaw"]"#, at: nil)
        #expect(value.tomlText == #"["BTN_TL tap: stop", "ABS_X: yaw"]"#)
        let problem = #expect(throws: ConfigurationProblem.self) {
            try ConfigurationLoader.value(
                of: "controls.bindings", text: #"["BTN_TL tap: stop", "BTN_TL tap: record"]"#,
                at: nil)
        }
        #expect(problem?.description.contains("BTN_TL tap twice") == true)
    }

    @Test(
        "a tap chooses the press of a button for an emergency stop, so that holding it stops too",
        arguments: [
            (.tap, .stop, "BTN_TL press: stop"), (.double, .stop, "BTN_TL double: stop"),
            (.hold, .stop, "BTN_TL hold: stop"), (.tap, .resetStop, "BTN_TL tap: reset_stop"),
        ] as [(Gesture, ControlAction, String)])
    func learned(gesture: Gesture, action: ControlAction, text: String) throws {
        let control = try #require(Control("BTN_TL"))
        let binding = try #require(ControlBinding(control, learned: gesture, action))
        #expect("\(binding)" == text)
    }
}
