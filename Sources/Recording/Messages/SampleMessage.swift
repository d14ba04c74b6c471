import GimbalCore

/// Message with a sample that the bus delivered, in the sensor frame, before any correction.
struct SampleMessage: RecordedMessage, Sendable {
    static let name = "Sample"
    static let topic = "/sample"

    var tick: UInt64 = 0
    var sample = IMUSample(time: Instant(nanoseconds: 0), gyro: .zero, accel: .zero)

    init() {}

    init(tick: UInt64, _ sample: IMUSample) {
        self.tick = tick
        self.sample = sample
    }

    mutating func visit(_ visitor: inout some FieldVisitor) {
        visitor.bits("tick", 1, &tick)
        // The first column of a table is `time_ns`, the time of the message.
        visitor.integer("sampled_ns", 2, &sample.time.nanoseconds)
        visitor.vector("gyro", "rad_s", 3, &sample.gyro)
        visitor.vector("accel", "m_s2", 6, &sample.accel)
        visitor.count("contents", 9, &sample.contents.rawValue)
        visitor.axes("joint", "rad", 10, &sample.joints)
        visitor.axes("joint_rate", "rad_s", 13, &sample.jointRates)
        visitor.vector("handle_gyro", "rad_s", 16, &sample.baseGyro)
        visitor.vector("magnetic_field", "ut", 19, &sample.magneticField)
        visitor.double("temperature_c", 22, &sample.temperature)
    }
}
