import AtriumKit
import Testing

@testable import Index

/// Which items came, went or lie elsewhere, for those who stand in some.
struct MovedItemsTests {
    private let index = ContentIndex(fields: [Field(name: "title", type: .text)])

    private func put(_ id: String, under parent: String? = nil, title: String = "") {
        index.put([Item(id: id, fields: ["title": .text(title)], parent: parent)], revision: 1)
    }

    @Test func `what moved is known though nobody keeps a query answered`() {
        put("a")
        #expect(index.tree.takeMoved() == nil, "nobody had asked before")
        #expect(index.tree.takeMoved() == .init())
        put("b")
        put("c", under: "b")
        #expect(index.tree.takeMoved() == .init(items: ["b", "c"], parents: ["b"]))
        put("c", under: "a")
        put("c", under: "a", title: "C")
        index.remove(["b", "x"])
        #expect(index.tree.takeMoved() == .init(items: ["c", "b"], parents: ["a", "b"]))
        put("c", under: "a", title: "D")
        index.setCommentCount(2, for: "c")
        #expect(index.tree.takeMoved() == .init())
    }

    @Test func `of very many it is not known which, and of those after them it is`() {
        _ = index.tree.takeMoved()
        for number in 0..<ItemTree.mostMoved { put("i\(number)") }
        #expect(index.tree.takeMoved()?.items.count == ItemTree.mostMoved)
        for number in 0...ItemTree.mostMoved { put("i\(number)", under: "x") }
        put("y")
        #expect(index.tree.takeMoved() == nil)
        put("z")
        #expect(index.tree.takeMoved()?.items == ["z"])
    }
}
