import GimbalCore
import Glibc
import PlainText
import Realtime
import Simulation

/// Options of the command line.
struct Options: Sendable {
    /// Names of the benchmarks to run. If the list is empty, all benchmarks run.
    var names: [String] = []
    /// Directory of the recorded trials; if it is nil, the benchmark `estimator` prints only a
    /// note.
    var dataDirectory: String?
    /// Directory of recorded motions that the simulated handle repeats in `pointing`. With nil,
    /// `pointing` uses simulated walkers.
    var recordedDirectory: String?
    /// Path of the daemon to measure; nil means the program in the bench's directory.
    var daemon: String?
    /// Directory for the estimator's harder logs, one folder for each scenario. If a directory is
    /// given, the program only writes these logs, and runs no benchmark.
    var exportDirectory: String?
    /// Log with which the time of one estimator update is measured. If a log is given, the program
    /// measures only the time of an update.
    var costLog: String?
    /// Directory for the estimator's consistency plots, or for the plots of `pointing` if
    /// `pointing` is the only named benchmark. If a directory is given, the program only draws
    /// these plots.
    var plotDirectory: String?
    /// True if the program must exit with an error if a result is outside its limits.
    var isGate = false
    /// Duration of each run of the allocation benchmark, s.
    var seconds = 60.0
    /// Duration of a round of the wake-up benchmark, s.
    var roundSeconds = 5.0
    /// Number of rounds of the wake-up benchmark. The results are the medians over the rounds.
    var rounds = 5
    /// Number of runs, with different seeds, of each combination of fault, mode and link.
    var faultSeeds = 4
    /// Number of random gimbals, and selection of their seeds. nil selects the benchmark's default.
    var count: Int?
    var seeds: GallerySeeds?
    /// Kind of motor for `pointing --recorded`. nil selects every kind of motor.
    var motor: MotorType?
    /// True if `pointing --recorded` uses a random gimbal for each recording and seed, instead of
    /// the default plant.
    var isDrawn = false
    /// Settings for random gimbals, `key=value`, in addition to the kind of motor and the loop's
    /// rate.
    var settings: [String] = []
    /// Motion of the handle in the benchmark `gallery`. nil selects every motion.
    var motion: HandleMotion?
    /// Filter of the rows of `sensor-faults`: words that the name of a row must contain. The name
    /// of a row consists of gimbal, motion and fault. If the list is empty, all rows are measured.
    var only: [String] = []
    /// Length of the soak test, simulated minutes.
    var soakMinutes = 60.0
    /// Number of items that the ring benchmark passes between two threads.
    var items = 100_000_000
    /// CPU on which the real-time threads and cyclictest run. With nil, the scheduler chooses the
    /// CPU.
    var cpu = RealtimeSetup.preferredCPU

    /// Parses the arguments; nil if one of them is invalid.
    init?(arguments: some Sequence<String>) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--gate":
                isGate = true
            case "--data":
                guard let value = iterator.next() else { return nil }
                dataDirectory = value
            case "--recorded":
                guard let value = iterator.next() else { return nil }
                recordedDirectory = value
            case "--daemon":
                guard let value = iterator.next() else { return nil }
                daemon = value
            case "--export":
                guard let value = iterator.next() else { return nil }
                exportDirectory = value
            case "--cost":
                guard let value = iterator.next() else { return nil }
                costLog = value
            case "--plots":
                guard let value = iterator.next() else { return nil }
                plotDirectory = value
            case "--seconds":
                guard let value = iterator.next().flatMap(Double.init), value > 0 else {
                    return nil
                }
                seconds = value
            case "--round-seconds":
                guard let value = iterator.next().flatMap(Double.init), value > 0 else {
                    return nil
                }
                roundSeconds = value
            case "--rounds":
                guard let value = iterator.next().flatMap({ Int($0) }), value > 0 else {
                    return nil
                }
                rounds = value
            case "--fault-seeds":
                guard let value = iterator.next().flatMap({ Int($0) }), value > 0 else {
                    return nil
                }
                faultSeeds = value
            case "--count":
                guard let value = iterator.next().flatMap({ Int($0) }), value > 0 else {
                    return nil
                }
                count = value
            case "--seeds":
                guard let value = iterator.next().flatMap(GallerySeeds.init) else { return nil }
                seeds = value
            case "--motion":
                guard let value = iterator.next().flatMap(HandleMotion.init) else { return nil }
                motion = value
            case "--motor":
                guard let value = iterator.next(),
                    let type = RecordedBench.drives.map(\.type).first(where: { "\($0)" == value })
                else { return nil }
                motor = type
            case "--drawn":
                isDrawn = true
            case "--set":
                guard let value = iterator.next() else { return nil }
                settings.append(value)
            case "--only":
                guard let value = iterator.next() else { return nil }
                only += value.split(separator: ",").map(String.init)
            case "--soak-minutes":
                guard let value = iterator.next().flatMap(Double.init), value > 0 else {
                    return nil
                }
                soakMinutes = value
            case "--items":
                guard let value = iterator.next().flatMap({ Int($0) }), value > 0 else {
                    return nil
                }
                items = value
            case "--cpu":
                guard let value = iterator.next() else { return nil }
                cpu = Int(value)
                guard cpu != nil || value == "any" else { return nil }
            default:
                guard !argument.hasPrefix("-") else { return nil }
                names.append(argument)
            }
        }
    }

    static func usage(_ benches: [Bench]) -> String {
        var lines = ["usage: airframe-bench [all | NAME...] [options]", ""]
        for bench in benches {
            lines.append("  \(Format.left(bench.name, 18))\(bench.summary)")
        }
        lines += [
            "", "  --gate            exit with status 1 if a figure misses its limit",
            "  --data DIRECTORY  recorded trials (.imu) for the estimator",
            "  --recorded DIR    `pointing` with the recorded motions (.imu) in DIR",
            "  --daemon PATH     the daemon to measure (airframed in the bench's directory)",
            "  --export DIR      write the harder variants of the logs in --data to DIR, and end",
            "  --cost LOG        print the time of one estimator update with LOG, ns, and end",
            "  --plots DIR       write plots of the estimator, or of `pointing`, to DIR, and end",
            "  --seconds S       duration of each allocation run, s (60)",
            "  --rounds N        number of wake-up rounds (5); --round-seconds S: duration (5)",
            "  --fault-seeds N   number of seeds for each fault, mode and source (4)",
            "  --count N         random gimbals in `gallery` (200), of each kind in `sensor-faults` (4)",
            "  --seeds WHICH     seeds of random gimbals: all, even, odd or one number",
            "  --motion NAME     motion in `gallery`: still, handheld, walking or running (each)",
            "  --motor TYPE      motors in `pointing --recorded`: torque, field or servo (each)",
            "  --drawn           `pointing --recorded` with random gimbals: --count, --seeds",
            "  --set KEY=VALUE   a setting of the random gimbals, with --drawn",
            "  --only A,B        rows of `sensor-faults` whose gimbal, motion and fault contain A and B",
            "  --soak-minutes N  duration of `soak` and `soak-links`, minutes, at least 10 (60)",
            "  --items N         number of items in the benchmark `ring` (100000000)",
            "  --cpu N|any       CPU of the real-time threads and of cyclictest (the last CPU)",
        ]
        return lines.joined(separator: "\n")
    }
}

/// Ends the process with exit(3), which writes buffered output.
func exitProcess(_ code: Int32) -> Never { exit(code) }
