import AtriumKit
import Synchronization
import Testing

/// A dictionary whose growth takes no long turn.
@Suite struct SplitDictionaryTests {
    @Test(arguments: [3, UInt64.random(in: 0...UInt64.max)])
    func `it holds what a dictionary does, before and after it is split`(seed: UInt64) {
        var random = Numbers(state: seed)
        var (split, model) = (SplitDictionary<String, Int>(), [String: Int]())
        for step in 0..<60_000 {
            let key = "key-\(Int.random(in: 0..<20_000, using: &random))"
            switch Int.random(in: 0..<8, using: &random) {
            case 0: #expect(split.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 1: (split[key], model[key]) = (nil, nil)
            case 2:
                #expect(
                    split.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            case 3, 4: (split[key], model[key]) = (step, step)
            default:
                let value = split.change(key, default: -1) { value in
                    value += 1
                    return value
                }
                model[key, default: -1] += 1
                #expect(value == model[key])
            }
            #expect(split.count == model.count, "seed \(seed), step \(step)")
        }
        #expect(model.count > 8_192, "it was split")
        #expect(Dictionary(uniqueKeysWithValues: split.map { ($0.key, $0.value) }) == model)
        #expect(Set(split.keys) == Set(model.keys))
        let copy = split
        for key in model.keys { split[key] = nil }
        #expect(split.isEmpty && Array(split.keys).isEmpty)
        #expect(copy.count == model.count)
    }

    @Test func `an entry more moves a part of the others at most`() {
        var split = SplitDictionary<Counted, Int>()
        var most = 0
        for number in 0..<300_000 {
            let before = Counted.hashes.load(ordering: .relaxed)
            split[Counted(number: number)] = number
            most = max(most, Counted.hashes.load(ordering: .relaxed) - before)
        }
        // A dictionary of all of them moves up to 200,000.
        #expect(most <= 40_000, "\(most) keys were hashed for one entry")
        #expect(split.count == 300_000)
    }
}

/// A key that counts how often one is hashed.
private struct Counted: Hashable {
    static let hashes = Atomic<Int>(0)
    let number: Int

    func hash(into hasher: inout Hasher) {
        Self.hashes.wrappingAdd(1, ordering: .relaxed)
        hasher.combine(number)
    }
}

/// Repeatable randomness.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
