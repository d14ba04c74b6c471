import GimbalCore
import Testing
import Wire

@Suite("Lockstep lines from a simulator")
struct LockstepSampleTests {
    private func read(_ text: String) throws(LockstepError) -> LockstepSample {
        try LockstepSample(parsing: Array(text.utf8))
    }

    @Test("all known members of a line are read, and unknown members are ignored")
    func everything() throws {
        let sample = try read(
            """
            {"mag":[2e-5,0,4e-5],"base_gyro":[7,8,9],"joint_rates":[4,5,6],"joints":[1,2,3],"note":{"a":[null]},\
            "accel":[0.5,-0.25,-9.81],"gyro":[1e-3,2,-3],"t":12.5}
            """)
        #expect(sample.t == 12.5)
        #expect(sample.gyro == Vector3(1e-3, 2, -3))
        #expect(sample.accel == Vector3(0.5, -0.25, -9.81))
        #expect(sample.joints == AxisVector(yaw: 1, roll: 2, pitch: 3))
        #expect(sample.jointRates == AxisVector(yaw: 4, roll: 5, pitch: 6))
        #expect(sample.baseGyro == Vector3(7, 8, 9))
        #expect(sample.magneticField == Vector3(2e-5, 0, 4e-5))
    }

    @Test("only t, gyro and accel are required")
    func least() throws {
        let sample = try read(#" {"t":0,"gyro":[0,0,0],"accel":[0,0,-9.81]} "#)
        #expect(sample.joints == nil && sample.jointRates == nil)
        #expect(sample.baseGyro == nil && sample.magneticField == nil)
    }

    @Test(
        "an invalid line is refused with an error code and the name of the member",
        arguments: [
            ("", .invalidJSON, ""), (" \t", .invalidJSON, ""), ("hello", .invalidJSON, ""),
            ("[1,2]", .invalidJSON, ""), ("null", .invalidJSON, ""), ("{}", .missing, "t"),
            (#"{"t":1,"gyro":[0,0,0],"accel":[0,0,0]} x"#, .invalidJSON, "accel"),
            (#"{"t":1,"gyro":[0,0,0]"#, .invalidJSON, "gyro"),
            (#"{"t":1,"gyro":[0,0,0]}"#, .missing, "accel"),
            (#"{"t":1,"accel":[0,0,0]}"#, .missing, "gyro"),
            (#"{"t":null,"gyro":[0,0,0],"accel":[0,0,0]}"#, .wrongType, "t"),
            (#"{"t":"1","gyro":[0,0,0],"accel":[0,0,0]}"#, .wrongType, "t"),
            (#"{"t":1,"gyro":[0,null,0],"accel":[0,0,0]}"#, .wrongType, "gyro"),
            (#"{"t":1,"gyro":[0,0,0],"accel":[0,true,0]}"#, .wrongType, "accel"),
            (#"{"t":1,"gyro":0,"accel":[0,0,0]}"#, .wrongType, "gyro"),
            (#"{"t":1,"gyro":[0,0],"accel":[0,0,0]}"#, .wrongLength, "gyro"),
            (#"{"t":1,"gyro":[0,0,0],"accel":[0,0,0,0]}"#, .wrongLength, "accel"),
            (#"{"t":1,"gyro":[0,1e999,0],"accel":[0,0,0]}"#, .outOfRange, "gyro"),
            (#"{"t":1e999,"gyro":[0,0,0],"accel":[0,0,0]}"#, .outOfRange, "t"),
            (#"{"t":1,"gyro":[NaN,0,0],"accel":[0,0,0]}"#, .invalidJSON, "gyro"),
            (#"{"t":1,"t":2,"gyro":[0,0,0],"accel":[0,0,0]}"#, .invalidJSON, "t"),
            (#"{"t":1,"gyro":[0,0,0],"accel":[0,0,0],"joints":null}"#, .wrongType, "joints"),
            (
                #"{"t":1,"gyro":[0,0,0],"accel":[0,0,0],"joint_rates":[1]}"#, .wrongLength,
                "joint_rates"
            ),
            (#"{"t":1,"gyro":[0,0,0],"accel":[0,0,0],"mag":["a",0,0]}"#, .wrongType, "mag"),
        ] as [(String, LockstepError.Code, String)])
    func wrong(text: String, code: LockstepError.Code, field: String) throws {
        let error = #expect(throws: LockstepError.self) { _ = try read(text) }
        #expect(error?.code == code, "\(text)")
        #expect(error?.field == field, "\(text): \(error?.message ?? "")")
        var bytes: [UInt8] = []
        error?.write(to: &bytes)
        #expect(bytes.last == UInt8(ascii: "\n"))
        let reply = try JSONValue(parsing: bytes)
        #expect(reply["error"]?["code"]?.string == code.rawValue)
        #expect(reply["error"]?["message"]?.string?.isEmpty == false)
        #expect(reply["error"]?["field"]?.string == field)
    }
}

@Suite("Lockstep replies to a simulator")
struct LockstepReplyTests {
    private func text(_ type: MotorType, _ output: MotorOutput) -> String {
        var bytes: [UInt8] = []
        LockstepReply(
            t: 1.001, output: output, motorType: type,
            attitude: Quaternion(w: 1, x: 0, y: -0.1, z: 1.0 / 3), mode: "locked"
        ).write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var pulling: AxisVector { AxisVector(yaw: 0.1, roll: -0.25, pitch: 1e-9) }

    @Test("a reply for torque motors contains the torques with all significant digits")
    func torque() {
        #expect(
            text(.torque, MotorOutput(enabled: true, torque: pulling))
                == #"{"t":1.001,"enabled":true,"torque":[0.1,-0.25,1e-09],"#
                + #""attitude":[1.0,0.0,-0.1,0.3333333333333333],"mode":"locked"}"# + "\n")
    }

    @Test("a reply for servos contains angles and zero torques")
    func servo() {
        #expect(
            text(.servo, MotorOutput(enabled: true, angle: pulling))
                == #"{"t":1.001,"enabled":true,"torque":[0.0,0.0,0.0],"angle":[0.1,-0.25,1e-09],"#
                + #""attitude":[1.0,0.0,-0.1,0.3333333333333333],"mode":"locked"}"# + "\n")
    }

    @Test("a reply for open-loop motors contains field angles, powers and zero torques")
    func field() {
        let half = AxisVector(repeating: 0.5)
        #expect(
            text(.field, MotorOutput(enabled: true, field: pulling, power: half))
                == #"{"t":1.001,"enabled":true,"torque":[0.0,0.0,0.0],"field":[0.1,-0.25,1e-09],"#
                + #""power":[0.5,0.5,0.5],"attitude":[1.0,0.0,-0.1,0.3333333333333333],"mode":"locked"}"#
                + "\n")
    }

    @Test("a torque is sent as 0 if the outputs are off or the torque is not finite")
    func off() throws {
        #expect(
            text(.torque, MotorOutput(enabled: false, torque: pulling))
                .contains(#""enabled":false,"torque":[0.0,0.0,0.0]"#))
        let broken = AxisVector(yaw: .nan, roll: .infinity, pitch: 0.2)
        #expect(
            text(.torque, MotorOutput(enabled: true, torque: broken))
                .contains(#""torque":[0.0,0.0,0.2]"#))
    }
}
