import AtriumKit
import AtriumKitTesting
import CommentThreads
import Testing
import Threads

/// A thread in a host of its own, written and read in few words.
struct Thread {
    let host: MemoryHost
    var subject = Subject.item("film")

    init(_ settings: [String: Value] = [:]) throws {
        host = try MemoryHost(Threads.self, settings: settings)
    }

    @discardableResult
    func post(
        _ id: String, under parent: String? = nil, by actor: Int64 = 1, text: String? = nil,
        isModerator: Bool = false
    ) throws -> Decision {
        let draft = CommentDraft(
            id: id, subject: subject, parent: parent, text: text ?? "says \(id)")
        return try host.run(.postComment(draft), as: actor, isModerator: isModerator)
    }

    /// A chain or a tree at once: each comment under the one named.
    func post(_ tree: [(id: String, parent: String?)]) throws {
        for (id, parent) in tree { try post(id, under: parent) }
    }

    func delete(_ ids: String...) throws {
        for id in ids { try host.run(.deleteComment(id: id)) }
    }

    func page(
        root: String? = nil, order: ThreadQuery.Order = .oldest, depth: Int? = nil,
        limit: Int = 100, cursor: String? = nil
    ) throws -> ThreadPage {
        let query = ThreadQuery(
            subject: subject, root: root, order: order, depth: depth, limit: limit,
            cursor: cursor)
        guard case .thread(let page) = try host.ask(.thread(query)) else {
            throw Refusal(.refused, "no thread")
        }
        return page
    }

    func refusal(_ body: () throws -> Void) throws -> Refusal {
        try #require(#expect(throws: Refusal.self) { try body() })
    }
}

extension ThreadPage {
    /// The tree in short: `a .b ..c`, a dot for each level, `(a)` for one whose text is not seen.
    var outline: String {
        entries.map { entry in
            let id = entry.comment.id
            let dots = String(repeating: ".", count: entry.depth)
            return dots + (entry.comment.text == nil ? "(\(id))" : id)
        }
        .joined(separator: " ")
    }

    func more(_ id: String) -> String? {
        entries.first { $0.comment.id == id }?.more
    }
}
