import AtriumKit
import Index
import JSONCodec
import Store

/// Reads one fact from each record: an item or a comment, under its id.
final class RecordFacts<Fact: RecordFact>: FactSource, @unchecked Sendable {
    private let address: RecordAddress
    private var wanted: ArraySlice<String>?
    private var last: String?

    init(_ address: RecordAddress, only keys: [String]? = nil) {
        self.address = address
        wanted = keys.map { $0[...] }
    }

    func only(_ keys: [String]) -> RecordFacts { RecordFacts(address, only: keys) }

    func next(in snapshot: Snapshot) throws -> FactSlice<Fact> {
        var slice = FactSlice<Fact>()
        if let wanted {
            for key in wanted.prefix(64) {
                let fact = try address.value(key, in: snapshot, &slice).flatMap {
                    Fact(key: key, value: $0)
                }
                if let fact { slice.facts.append(.init(key: key, fact: fact)) }
            }
            self.wanted = wanted.dropFirst(64)
            slice.isEnd = wanted.count <= 64
            return slice
        }
        last = try address.visit(after: last, in: snapshot, &slice) { key, value, slice in
            if let fact = Fact(key: key, value: value) {
                slice.facts.append(.init(key: key, fact: fact))
            }
            return true
        }
        slice.isEnd = last == nil
        return slice
    }
}

/// The part of a record that is shown.
protocol RecordFact: Equatable, Sendable {
    /// Nil for a record that is not of the kind: it is private to the component.
    init?(key: String, value: Value)
}

/// An item as its list should have it.
struct ItemFact: RecordFact {
    var fields: [String: Value]
    var parent: String?
    /// Whether the index finds the item by its values; always true in the store.
    var isIndexed = true

    static func == (one: ItemFact, other: ItemFact) -> Bool {
        one.isIndexed == other.isIndexed && one.parent == other.parent
            && Value.object(one.fields).isSame(as: .object(other.fields))
    }
}

extension ItemFact {
    init?(key: String, value: Value) {
        guard let item = Item(key: key, value: value) else { return nil }
        self.init(fields: item.fields, parent: item.parent)
    }
}

/// A comment as its component should return it.
struct CommentFact: RecordFact {
    var subject: Subject
    var parent: String?
    var state: Comment.State
    var created: Timestamp
    /// The text; nil for a removed comment, whose text is not shown.
    var text: String?

    init(_ comment: Comment) {
        subject = comment.subject
        parent = comment.parent
        state = comment.state
        created = comment.created
        text = comment.state == .removed ? nil : comment.text
    }

    init?(key: String, value: Value) {
        // A comment that is its own parent is not shown.
        guard let comment = Comment(key: key, value: value), comment.parent != key else {
            return nil
        }
        self.init(comment)
    }
}

extension ContentIndex {
    /// The shown fact of an item, and whether the list's columns agree with it; nil if there is none.
    func fact(of id: String) -> ItemFact? {
        guard let shown = item(id) else { return nil }
        guard let fields: [String: Value] = try? JSON.decode(from: shown.fields) else {
            return ItemFact(fields: [:], parent: shown.parent, isIndexed: false)
        }
        return ItemFact(
            fields: fields, parent: shown.parent,
            isIndexed: IndexCheck.isIndexed(id, fields, in: self))
    }
}
