import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `A screen` {
    private func item(_ id: String) -> Item { Item(id: id, fields: .empty) }

    private func reply(base: Int?, revision: Int, _ edits: [Edit]) -> Screens.Open.Reply {
        .init(
            screen: "s", base: base, revision: revision, sequence: 1, commits: 1,
            lists: [.init(component: "list", total: 9, edits: edits)])
    }

    @Test func `is a snapshot, then what its edits make of it`() throws {
        var model = ScreenModel()
        let inserts = ["a", "b", "c"].enumerated().map {
            Edit(op: .insert, at: $0.offset, item: item($0.element))
        }
        try model.apply(reply(base: nil, revision: 1, inserts))
        #expect(model.lists.first?.items.map(\.id) == ["a", "b", "c"])
        try model.apply(
            reply(
                base: 1, revision: 2,
                [
                    Edit(op: .remove, at: 0), Edit(op: .move, at: 0, to: 1),
                    Edit(op: .insert, at: 0, item: item("d")),
                    Edit(op: .update, at: 1, item: item("C")),
                ]))
        #expect(model.lists.first?.items.map(\.id) == ["d", "C", "b"])
        #expect(model.revision == 2)
        try model.apply(reply(base: nil, revision: 1, []))
        #expect(model.lists.first?.items.isEmpty == true)
    }

    @Test func `that is out of step is not guessed at`() throws {
        var model = ScreenModel()
        try model.apply(reply(base: nil, revision: 1, []))
        #expect(throws: CommandFailure.self) {
            try model.apply(reply(base: 5, revision: 6, []))
        }
        #expect(throws: CommandFailure.self) {
            try model.apply(reply(base: 1, revision: 2, [Edit(op: .remove, at: 3)]))
        }
    }
}
