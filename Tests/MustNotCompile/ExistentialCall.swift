// expect: this code pattern can cause an allocation
// A driver behind a protocol, called from the tick.

protocol Motor {
    mutating func write(_ torque: Double)
}

struct Loop {
    var motor: any Motor
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.motor.write(0) }
