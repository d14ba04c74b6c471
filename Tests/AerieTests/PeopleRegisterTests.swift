import GimbalCore
import Testing

@testable import Aerie

@Suite("Identities of the people that a phone detects")
struct PeopleRegisterTests {
    @Test(
        "two people who cross keep their names in 20 runs, although every fifth detection is missing"
    )
    func crossing() {
        for seed in 1...20 {
            var noise = Noise(UInt64(seed))
            var register = PeopleRegister()
            var names: [Set<String>] = [[], []]
            for step in 0..<60 {
                let t = Double(step) / 10
                // Two people walk left and right at 1.2 m/s, 0.6 m apart in depth.
                let places = [
                    Vector3(-3.6 + 1.2 * t, 0.9, -4), Vector3(3.6 - 1.2 * t, 0.9, -4.6),
                ]
                let seen = (0..<2).filter { _ in abs(noise.next()) > 0.25 }
                let positions = seen.map { index in
                    places[index] + Vector3(noise.next(), noise.next(), 2 * noise.next()) * 0.05
                }
                let given = register.names(
                    for: positions, device: "a", camera: Vector3(0, 1.4, 0), now: t)
                for (index, name) in zip(seen, given) { names[index].insert(name) }
            }
            #expect(names.map(\.count) == [1, 1])
            #expect(names[0] != names[1])
        }
    }

    @Test(
        "each phone has its own people; a person who returns after a long absence gets a new name"
    )
    func lifetimes() {
        var register = PeopleRegister()
        func expect(_ device: String, _ x: Double, _ now: Double, _ names: [String]) {
            let given = register.names(
                for: [Vector3(x, 1, -3)], device: device, camera: .zero, now: now)
            #expect(given == names)
        }
        expect("a", 0, 0, ["1"])
        expect("b", 0, 0, ["2"])
        expect("a", 0.1, 1, ["1"])
        expect("a", 4, 1.1, ["3"])
        expect("a", 0.1, 3, ["4"])
        register.forget("a")
        #expect(register.entries.allSatisfy { $0.device == "b" })
    }
}
