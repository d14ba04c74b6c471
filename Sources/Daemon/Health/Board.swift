import Glibc
import Hardware

/// Properties of the computer that can be read inside the service's sandbox, where /proc contains
/// only processes.
enum Board {
    /// The board's name; "unknown" if it is not available.
    static var model: String { HardwareInventory().board }

    static var kernel: String { uname { $0.release } }
    static var architecture: String { uname { $0.machine } }
    static var cpus: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Memory of the computer, kB.
    static var memory: Int { sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)) / 1024 }

    private static func uname<Field>(_ field: (utsname) -> Field) -> String {
        var names = utsname()
        Glibc.uname(&names)
        return withUnsafeBytes(of: field(names)) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
