import Configuration
import GimbalCore
import Observables
import Realtime
import Testing
import Wire

@testable import Daemon

@Suite("What can be subscribed to") struct VariableTableTests {
    @Test("has unique names, each with a meaning")
    func names() {
        let names = Observable.variables.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count > 30)
        for variable in Observable.variables {
            #expect(!variable.summary.isEmpty, "\(variable.name)")
        }
    }

    @Test("is finite in a record in which nothing has happened")
    func finite() {
        let record = TelemetryRecord.at(1)
        for (index, variable) in Observable.variables.enumerated() {
            switch Observable.all[index].read(record) {
            case .double(let value): #expect(value.isFinite, "\(variable.name)")
            case .string(let text): #expect(!text.isEmpty, "\(variable.name)")
            case .array(let values): #expect(values.isEmpty, "\(variable.name)")
            // No sample has told a temperature, and no servos follow the handle.
            case .null:
                #expect(variable.name == "imu_temperature" || variable.name.hasPrefix("followed."))
            default: Issue.record("\(variable.name) is of no expected kind")
            }
        }
    }

    @Test("is in degrees, about the axis in the name")
    func degrees() throws {
        let record = TelemetryRecord.at(1) { $0.rate = Vector3(0, 1, 0) }
        let index = try #require(Observable.variables.firstIndex { $0.name == "rate.pitch" })
        let value = Observable.all[index].read(record).number ?? .nan
        #expect(abs(value - 180 / .pi) < 1e-9)
    }
}

@Suite("Settings as JSON") struct SettingTextTests {
    @Test("are numbers, words and lists, not text", arguments: Schema.settings.map(\.key))
    func everyDefault(key: String) throws {
        let setting = try #require(Schema.setting(key))
        let json = JSONValue(setting.defaultValue)
        // What was read from the socket must be what can be sent back to it.
        let loaded = try ConfigurationLoader.load(
            ConfigurationSource(overrides: ["\(key)=\(json.tomlText(for: key))"]))
        #expect(setting.value(in: loaded.settings) == setting.defaultValue)
    }

    @Test("become TOML whether they come as values or as text")
    func tomlText() {
        let key = "control.rate_gain"
        #expect(
            JSONValue.array([.int(1), .double(2.5), .int(3)]).tomlText(for: key) == "[1, 2.5, 3]")
        #expect(JSONValue.string("[1, 2.5, 3]").tomlText(for: key) == "[1, 2.5, 3]")
        #expect(JSONValue.bool(true).tomlText(for: key) == "true")
        #expect(JSONValue.array([.string("a\"b")]).tomlText(for: key) == #"["a\"b"]"#)
    }
}
