// expect: success
// The constructs of an allowed tick. If the compiler refuses this file, the harness is broken,
// and the other refusals prove nothing.

struct Sample {
    var time: Int64
    var rate: (Double, Double, Double)
}

enum Fault: Error { case tooOld }

struct Loop: ~Copyable {
    var storage: UnsafeMutablePointer<Sample>
    var count = 0
    var sum = 0.0

    mutating func use(_ sample: Sample) throws(Fault) {
        if sample.time < 0 { throw .tooOld }
        sum += min(max(sample.rate.0, -1), 1)
    }
}

@_noLocks @_noAllocation
func tick(_ loop: inout Loop) {
    for index in 0..<loop.count {
        do throws(Fault) {
            try loop.use(loop.storage[index])
        } catch {
            loop.sum = 0
        }
    }
}
