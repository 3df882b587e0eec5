import TestSupport
import Testing

@testable import Index

struct IndexRowTableTests {
    private struct Known: Equatable {
        var fields: [UInt8]
        var parent: String?
        var revision: Int64
    }

    @Test(arguments: [11, UInt64.random(in: 0...UInt64.max)])
    func `items keep what they hold while the memory beside them falls free`(seed: UInt64) {
        var random = RepeatableRandom(seed)
        let table = RowTable()
        var model: [String: Known] = [:]
        // Some 30 MB go through chunks of one, so that they are written anew, emptied, used again.
        for step in 0..<20_000 {
            let id = "item-\(Int.random(in: 0..<600, using: &random))"
            if Int.random(in: 0..<3, using: &random) == 0 {
                #expect((table.remove(id) == nil) == (model.removeValue(forKey: id) == nil))
                continue
            }
            let length = Int.random(in: 0..<5_000, using: &random)
            let known = Known(
                fields: Array(repeating: UInt8(truncatingIfNeeded: step), count: length),
                parent: step % 3 == 0 ? "item-\(step % 50)" : nil, revision: Int64(step))
            let old = known.fields.withUnsafeBytes {
                table.put(id: id, parent: known.parent, fields: $0, revision: known.revision)
            }
            #expect((old.former == nil) == (model[id] == nil))
            model[id] = known
            if step % 1_000 == 0 { check(table, model, "seed \(seed), step \(step)") }
        }
        check(table, model, "seed \(seed)")
    }

    private func check(_ table: RowTable, _ model: [String: Known], _ context: Comment) {
        let ids = (0..<table.end).filter(table.occupied.contains).map(table.id)
        #expect(ids.sorted() == model.keys.sorted(), context)
        for (id, known) in model {
            let row = table.row(of: id).map { table[$0] }
            #expect(row?.id == id, context)
            #expect(
                row.map { Known(fields: $0.fields, parent: $0.parent, revision: $0.revision) }
                    == known, context)
        }
        let ordered = table.rowsByID().map { table.id(of: Int($0)) }
        #expect(ordered == model.keys.sorted(), context)
    }
}
