// expect: Using type 'any Error' can cause metadata allocation or locks
// A tick that catches an untyped error.

struct Fault: Error {}

struct Loop {
    var isOld = false
    func use() throws { if isOld { throw Fault() } }
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) { do { try loop.use() } catch { loop.isOld = false } }
