import AtriumKit
import TestSupport
import Testing

@testable import Host

struct ListEditTests {
    private struct Entry: Hashable {
        var id: Int
        var content: Int
    }

    private func edits(from old: [Entry], to new: [Entry]) -> [ListEdit<Entry>] {
        ListEdit.leading(from: old, to: new, id: { "\($0.id)" }, isSame: ==)
    }

    private func apply(_ edits: [ListEdit<Entry>], to old: [Entry]) -> [Entry] {
        var entries = old
        for edit in edits {
            switch edit {
            case .insert(let entry, let place): entries.insert(entry, at: place)
            case .remove(let place): entries.remove(at: place)
            case .move(let place, let goal):
                entries.insert(entries.remove(at: place), at: goal)
            case .update(let entry, let place): entries[place] = entry
            }
        }
        return entries
    }

    @Test(arguments: [1, 2, UInt64.random(in: 3...UInt64.max)])
    func `edits applied in order give the new window`(seed: UInt64) {
        var random = RepeatableRandom(seed)
        for _ in 0..<3_000 {
            let ids = Array(0..<12).shuffled(using: &random)
            let old = ids.prefix(Int.random(in: 0...8, using: &random)).map {
                Entry(id: $0, content: 0)
            }
            let new = ids.shuffled(using: &random).prefix(Int.random(in: 0...8, using: &random))
                .map { Entry(id: $0, content: Int.random(in: 0...3, using: &random) / 3) }
            #expect(apply(edits(from: old, to: new), to: old) == new, "seed \(seed)")
        }
    }

    @Test func `an entry that moves is one edit, wherever it goes`() {
        let old = (0..<50).map { Entry(id: $0, content: 0) }
        for (from, to) in [(0, 49), (49, 0), (10, 11), (30, 3)] {
            var new = old
            new.insert(new.remove(at: from), at: to)
            #expect(edits(from: old, to: new).count == 1)
        }
        #expect(edits(from: old, to: old).isEmpty)
    }

    @Test func `one that comes in and one that is pushed out are two edits`() {
        let old = (0..<50).map { Entry(id: $0, content: 0) }
        let new = [Entry(id: 99, content: 0)] + old.dropLast()
        #expect(
            edits(from: old, to: new) == [
                .remove(at: 49), .insert(Entry(id: 99, content: 0), at: 0),
            ]
        )
    }
}
