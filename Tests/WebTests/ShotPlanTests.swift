import TestSupport
import Testing
import Wire

@testable import Web

@Suite("Plans of shots that airframe-web shows", .serialized, .timeLimit(.minutes(1)))
struct ShotPlanTests {
    @Test("each browser gets the picture of its own plan, after another browser has planned a shot")
    func pictures() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let (first, second) = (try rig.cookie(), try rig.cookie(name: "other"))
            func plan(_ photos: Int, _ cookie: String) throws -> String {
                let answer = try WebClient(port: rig.port).request(
                    "POST", "/shot/plan", headers: [cookie], body: "[orbit]\nphotos = \(photos)\n")
                #expect(answer.status == 200, "\(answer.text)")
                return try picture(cookie)
            }
            func picture(_ cookie: String) throws -> String {
                try WebClient(port: rig.port).request("GET", "/shot/plan.svg", headers: [cookie])
                    .text
            }
            let (own, other) = (try plan(6, first), try plan(24, second))
            #expect(own.contains("<svg") && other.contains("<svg") && own != other)
            #expect(try picture(first) == own)
            #expect(try picture(second) == other)
        }
    }
}
