import AtriumKit
import Synchronization
import Testing

/// Elements in order, of which no change takes long.
@Suite struct SplitOrderTests {
    @Test(arguments: [5, UInt64.random(in: 0...UInt64.max)])
    func `it holds what a sorted set does, while elements come and go`(seed: UInt64) {
        var random = Numbers(state: seed)
        var (order, model) = (SplitOrder<Int>(), Set<Int>())
        for step in 0..<40_000 {
            let number = Int.random(in: 0..<5_000, using: &random)
            // It fills up, empties and fills up again.
            if Int.random(in: 0..<10, using: &random) < (step / 10_000 % 2 == 0 ? 8 : 2) {
                #expect(order.insert(number) == model.insert(number).inserted)
            } else {
                #expect(order.remove(number) == (model.remove(number) != nil))
            }
            #expect(order.count == model.count, "seed \(seed), step \(step)")
        }
        let sorted = model.sorted()
        #expect(Array(order) == sorted)
        #expect(order.first == sorted.first && order.last == sorted.last)
        for number in stride(from: -1, to: 5_001, by: 7) {
            let (before, after) = (sorted.last { $0 < number }, sorted.first { $0 > number })
            #expect(order.next(before: number) == before && order.next(after: number) == after)
            let page = sorted.filter { $0 > number }.prefix(600)
            #expect(order.page(after: number, limit: 600) == Array(page), "after \(number)")
        }
        #expect(order.page(after: nil, limit: 3) == Array(sorted.prefix(3)))
        #expect(order.page(after: nil, limit: 0) == [])
        #expect(Array(SplitOrder(sorting: model)) == sorted)
        let copy = order
        for number in sorted { order.remove(number) }
        #expect(order.isEmpty && Array(order).isEmpty && order.page(after: nil, limit: 9) == [])
        #expect(Array(copy) == sorted)
    }

    @Test func `neither an element more nor a page looks at more than a few`() {
        var random = Numbers(state: 7)
        var order = SplitOrder<Counted>()
        var most = 0
        for _ in 0..<200_000 {
            most = max(
                most,
                Counted.during { order.insert(Counted(number: Int(random.next() >> 2))) })
        }
        #expect(most <= 64, "\(most) comparisons for one element")
        var after: Counted?
        var pages = 0
        repeat {
            var page: [Counted] = []
            let count = Counted.during { page = order.page(after: after, limit: 500) }
            #expect(count <= 64, "\(count) comparisons for a page")
            after = page.last
            pages += 1
        } while after != nil
        #expect(pages == order.count / 500 + 1)
    }
}

/// An element that counts how often two are compared.
private struct Counted: Comparable {
    private static let comparisons = Atomic<Int>(0)
    let number: Int

    static func during(_ body: () -> Void) -> Int {
        let before = comparisons.load(ordering: .relaxed)
        body()
        return comparisons.load(ordering: .relaxed) - before
    }

    static func < (one: Counted, other: Counted) -> Bool {
        comparisons.wrappingAdd(1, ordering: .relaxed)
        return one.number < other.number
    }

    static func == (one: Counted, other: Counted) -> Bool {
        comparisons.wrappingAdd(1, ordering: .relaxed)
        return one.number == other.number
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
