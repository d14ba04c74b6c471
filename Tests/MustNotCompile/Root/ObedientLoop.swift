// expect: success
// The real root, with a loop that keeps the rules.

import GimbalCore

struct ControlLoop: ~Copyable {
    var last = Instant(nanoseconds: 0)
    mutating func tick(now: Instant) { last = max(last, now) }
}
