// expect: this code pattern can cause an allocation
// A tick that calls a driver through a protocol.

protocol Motor {
    mutating func write(_ torque: Double)
}

struct Loop {
    var motor: any Motor
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.motor.write(0) }
