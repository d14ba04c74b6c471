import Configuration
import Links
import Policy
import Port
import TestSupport
import Wire

@testable import Daemon

// Blocking versions of the calls that return their result later.
extension Tuning {
    func save(by who: String) throws -> String { try awaited { save(by: who, $0) } }

    func baseline(_ request: BaselineRequest, by who: String) throws -> BaselineReport {
        try awaited { baseline(request, by: who, $0) }
    }

    func reload(by who: String) throws -> Configuration.ReloadReport {
        try awaited { reload(by: who, $0) }
    }

    func save(_ keys: [String], from source: CommandSource, by who: String) throws {
        try awaited { try save(keys, with: [], from: source, (who, "saved"), $0) }
    }
}
