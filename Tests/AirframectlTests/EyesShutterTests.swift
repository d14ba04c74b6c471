import Client
import Foundation
import Shots
import Testing
import Wire

@testable import airframectl

@Suite("Shutter airframe-eyes of a shot")
struct EyesShutterTests {
    @Test(
        "no photo is requested while the number of earlier photos is unknown",
        .timeLimit(.minutes(1)))
    func unknownCount() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        let status = String(decoding: try encoder.encode(Status()), as: UTF8.self)
        let answers = """
            {"id":1,"t":1,"result":\(status)}
            {"id":2,"t":1,"result":{"sentence":"A photo.","number":3}}

            """
        // A daemon without airframe-eyes answers the request for its state, and would accept the
        // request for a photo.
        try withDaemon(answering: answers, thenStays: true) { path in
            let client = try DaemonClient(path: path, timeout: 10)
            let shutter = EyesShutter(timeout: 1, wait: { _ in }) {
                () throws(ClientError) in client
            }
            let problem = try shutter.shoot(4, at: Pose())
            #expect(problem?.contains("airframe-eyes is not connected") == true)
            #expect(try shutter.examine(4, mark: 7) == .notTaken)
        }
    }
}
