// expect: this code performs reference counting operations which can cause locking
// A tick that composes a string.

struct Loop {
    var message = ""
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { loop.message = "late by \(loop.message.count)" }
