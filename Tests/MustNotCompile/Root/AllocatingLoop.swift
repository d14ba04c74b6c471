// expect: this code performs reference counting operations which can cause locking
// The real root, with a loop that allocates.

import GimbalCore

struct ControlLoop: ~Copyable {
    var history: [Instant] = []
    mutating func tick(now: Instant) { history.append(now) }
}
