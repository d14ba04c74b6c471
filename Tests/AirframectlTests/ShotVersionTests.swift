import ArgumentParser
import Client
import Shots
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import airframectl

@Suite("Saved shots of other versions")
struct ShotVersionTests {
    @Test("the error about a saved shot names the setting that only an earlier version accepted")
    func refusedState() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            var record = ShotRecord(
                try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 4)))), originYaw: 0)
            record.recipe.shutter.kind = .command
            record.recipe.shutter.command = ["gphoto2", "--filename", "{file}"]
            try ShotStore(path).save(record)
            let error = #expect(throws: ClientError.self) { try ShotStore(path).load() }
            let message = error?.requestError.message ?? ""
            #expect(message.hasPrefix("\(path): this version of airframectl refuses"))
            #expect(message.contains("shutter.file is missing"), "\(message)")
            #expect(message.contains("--again"), "\(message)")
        }
    }

    @Test("a shot with the waypoints of another version is not mistaken for another shot")
    func otherVersion() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/shot.json"
            let plan = try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 4))))
            let other = try ShotFile.plan(ShotRecipe(.orbit(.init(photos: 5))))
            let command = try ShootFileCommand.parse(["orbit.toml", "--resume", "--state", path])
            func refusal(_ record: ShotRecord) throws -> String {
                try ShotStore(path).save(record)
                let error = #expect(throws: ClientError.self) {
                    try ShotRunner.earlier(ShotStore(path), plan, command.shoot)
                }
                return error?.requestError.message ?? ""
            }
            var record = ShotRecord(plan, originYaw: 0)
            record.plan = other.identification
            #expect(try refusal(record).contains("another version of airframectl"))
            let unrelated = ShotRecord(other, originYaw: 0)
            #expect(try refusal(unrelated).contains("another unfinished shot"))
        }
    }
}
