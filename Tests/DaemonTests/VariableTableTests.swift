import Configuration
import GimbalCore
import Observables
import Realtime
import Testing
import Wire

@testable import Daemon

@Suite("Variables for subscriptions") struct VariableTableTests {
    @Test("every variable has a unique name and a summary")
    func names() {
        let names = Observable.variables.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count > 30)
        for variable in Observable.variables {
            #expect(!variable.summary.isEmpty, "\(variable.name)")
        }
    }

    /// Record of motors with a known inertia, and of a magnetometer.
    private static let known = TelemetryRecord.at(1) {
        $0.inertia = AxisVector(repeating: 1e-3)
        $0.headingSigma = 0.1
    }

    @Test("every value is finite in a record with default values, apart from unknown ones")
    func finite() {
        let record = Self.known
        for (index, variable) in Observable.variables.enumerated() {
            switch Observable.all[index].read(record) {
            case .double(let value): #expect(value.isFinite, "\(variable.name)")
            case .string(let text): #expect(!text.isEmpty, "\(variable.name)")
            case .array(let values): #expect(values.isEmpty, "\(variable.name)")
            // The record contains no temperature, no servos that follow the handle, and no motors
            // without encoders.
            case .null:
                let unknown = ["imu_temperature", "followed.", "rest_power."]
                #expect(unknown.contains { variable.name.hasPrefix($0) }, "\(variable.name)")
            default: Issue.record("\(variable.name) does not have an expected type")
            }
        }
    }

    @Test(
        "a value that status does not know is null in streams",
        arguments: [
            "inertia.pitch", "inertia_sigma.yaw", "loop_delay", "bandwidth", "friction.roll",
            "hand.yaw", "hum.pitch", "calm.roll", "imbalance.yaw", "heading_sigma",
        ])
    func unknown(name: String) throws {
        let index = try #require(Observable.variables.firstIndex { $0.name == name })
        // Servos have no inertia, and a gimbal without a magnetometer has no direction of north.
        let servos = TelemetryRecord.at(1) { $0.samples.accepted = 1 }
        let status = try StatusReply(Status(), servos).decoded()
        #expect(status.motors.inertiaKgM2 == AxisNumbers())
        #expect(status.estimator.headingSigmaDeg.known == nil)
        #expect(Observable.all[index].read(servos) == .null)
        #expect(Observable.all[index].read(Self.known).number?.isFinite == true)
    }

    @Test("the power without load is null for motors with encoders and for servos")
    func restPower() throws {
        let index = try #require(Observable.variables.firstIndex { $0.name == "rest_power.roll" })
        #expect(Observable.all[index].read(TelemetryRecord.at(1)) == .null)
        let fields = TelemetryRecord.at(1) { $0.restPower = AxisVector(repeating: 0.25) }
        #expect(Observable.all[index].read(fields).number == 25)
    }

    @Test(
        "joints_known is 0 only while the handle is assumed to be upright",
        arguments: [
            JointSource.assumed, .encoders, .servoCommand, .fieldAngle, .handleIMU,
        ])
    func knownJoints(source: JointSource) throws {
        let record = TelemetryRecord.at(1) { $0.jointSource = source }
        let index = try #require(Observable.variables.firstIndex { $0.name == "joints_known" })
        #expect(Observable.all[index].read(record).number == (source == .assumed ? 0 : 1))
    }

    @Test("rate.pitch is the rate about the pitch axis in degrees per second")
    func degrees() throws {
        let record = TelemetryRecord.at(1) { $0.rate = Vector3(0, 1, 0) }
        let index = try #require(Observable.variables.firstIndex { $0.name == "rate.pitch" })
        let value = Observable.all[index].read(record).number ?? .nan
        #expect(abs(value - 180 / .pi) < 1e-9)
    }
}

@Suite("Settings as JSON") struct SettingTextTests {
    @Test(
        "the JSON of every default value can be sent back as a value of its setting",
        arguments: Schema.settings.map(\.key))
    func everyDefault(key: String) throws {
        let setting = try #require(Schema.setting(key))
        let json = JSONValue(setting.defaultValue)
        // A client must be able to send back a value that it has read from the socket.
        var store = ParameterStore(LoadedConfiguration())
        let value = try store.set(key, to: RawValue(json), written: json.written)
        #expect(value == setting.defaultValue)
    }

    @Test("JSON values and strings with TOML text become the same value, and the same text")
    func values() {
        let numbers = JSONValue.array([.int(1), .double(2.5), .int(3)])
        #expect(RawValue(numbers) == .array([.integer(1), .number(2.5), .integer(3)]))
        #expect(RawValue(.string("[1, 2.5, 3]")) == RawValue(numbers))
        #expect(numbers.written == "[1, 2.5, 3]")
        #expect(RawValue(.bool(true)) == .bool(true))
        #expect(RawValue(.string("[1, 2")) == nil)
        let words = JSONValue.array([.string("a\"b")])
        #expect(RawValue(words) == .array([.text("a\"b")]))
        #expect(words.written == #"["a\"b"]"#)
    }
}
