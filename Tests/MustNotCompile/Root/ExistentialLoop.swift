// expect: this code pattern can cause an allocation
// The real root, with a loop that calls a driver through a protocol.

import GimbalCore

protocol Motors {
    mutating func write(_ output: MotorOutput)
}

struct ControlLoop: ~Copyable {
    var motors: any Motors
    mutating func tick(now: Instant) { motors.write(.off) }
}
