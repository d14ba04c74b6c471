import Simulation
import Testing

@Suite("Random source")
struct RandomSourceTests {
    @Test("the first numbers of seed 0 match the published SplitMix64")
    func reference() {
        var random = RandomSource(seed: 0)
        #expect(random.next() == 0xE220_A839_7B1D_CDAF)
        #expect(random.next() == 0x6E78_9E6A_A1B9_65F4)
        #expect(random.next() == 0x06C4_5D18_8009_454F)
    }

    @Test("uniform and normal numbers have the moments of their distributions")
    func moments() {
        var random = RandomSource(seed: 11, stream: 2)
        var mean = 0.0
        var uniform = 0.0
        var square = 0.0
        var fourth = 0.0
        let n = 100_000
        for _ in 0..<n {
            let u = random.uniform()
            #expect(u >= 0 && u < 1)
            uniform += u
            let g = random.gaussian()
            mean += g
            square += g * g
            fourth += g * g * g * g
        }
        #expect(abs(uniform / Double(n) - 0.5) < 0.005)
        #expect(abs(mean / Double(n)) < 0.01)
        #expect(abs(square / Double(n) - 1) < 0.02)
        #expect(abs(fourth / Double(n) - 3) < 0.15)
    }

    @Test("the streams of a seed differ from each other, and each stream is repeatable")
    func streams() {
        var a = RandomSource(seed: 3, stream: 1)
        var b = RandomSource(seed: 3, stream: 2)
        var c = RandomSource(seed: 3, stream: 1)
        let x = a.next()
        #expect(x != b.next() && x == c.next())
    }
}
