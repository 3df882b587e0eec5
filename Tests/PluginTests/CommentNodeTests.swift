import AtriumKit
import Testing

@testable import CommentThreads

@Suite struct `A comment in the tree` {
    private func kept(_ comment: AtriumKit.Comment) -> AtriumKit.Comment {
        CommentNode.make(
            comment, id: .make(comment.id), parent: comment.parent.map(CommentID.make),
            subject: SharedSubject(comment.subject)
        ).comment
    }

    private let plain = AtriumKit.Comment(
        id: "01arz3ndektsv4rrffq69g5fav", subject: .item("alien"), parent: nil,
        author: ActorID(7), text: "In space no one can hear you scream.",
        created: Timestamp(milliseconds: 1), order: 2, fingerprint: "00c0ffee00c0ffee")

    @Test func `has all its parts`() {
        #expect(kept(plain) == plain)
        var full = plain
        full.subject = .container
        full.parent = "café"
        full.state = .removed
        full.text = nil
        full.edited = Timestamp(milliseconds: -1)
        full.reason = "👩‍🚀 rude"
        full.moderator = ActorID(0)
        #expect(kept(full) == full)
        full.moderator = nil
        full.author = nil
        full.text = ""
        full.order = .min
        #expect(kept(full) == full)
        full.author = ActorID(0)
        #expect(kept(full) == full)
    }

    @Test(arguments: [
        "", "0000000000000000", "ffffffffffffffff", "00C0FFEE00C0FFEE", "+0c0ffee00c0ffee",
        "00c0ffee00c0ffe", "00c0ffee00c0ffee0", "no digits at all",
    ])
    func `has its fingerprint as it was written`(fingerprint: String) {
        var comment = plain
        comment.fingerprint = fingerprint
        #expect(kept(comment).fingerprint == fingerprint)
    }

    @Test func `differs from one whose id has the same letters in other bytes`() {
        let (one, other) = (CommentID.make("caf\u{e9}"), CommentID.make("cafe\u{301}"))
        #expect(one != other)
        #expect(one == .make("caf\u{e9}"))
        #expect(other < one)
        #expect(CommentID.make("a") < .make("aa"))
        #expect(CommentID.make("").text == "")
    }

    @Test(arguments: [1, 2, 1_000], [nil, 0, 40, 10_000])
    func `is found by its id, also where hashes are the same`(hashes: Int, reserved: Int?) {
        let table = CommentTable { $0.text.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % hashes }
        if let reserved { table.reserve(reserved) }
        var model: [String: Int64] = [:]
        var random = SystemRandomNumberGenerator()
        for order in 0..<2_000 as Range<Int64> {
            let id = "c\(UInt8.random(in: 0..<50, using: &random))"
            if Bool.random(using: &random) {
                var comment = plain
                (comment.id, comment.order) = (id, order)
                let node = CommentNode.make(
                    comment, id: .make(id), parent: nil,
                    subject: SharedSubject(comment.subject))
                #expect(
                    table.update(node)?.header.order == model.updateValue(order, forKey: id))
            } else {
                #expect(table.remove(.make(id))?.header.order == model.removeValue(forKey: id))
            }
            #expect(table.count == model.count)
            for (id, order) in model { #expect(table[.make(id)]?.header.order == order) }
        }
    }

    /// The table counts its references to comments itself.
    @Test(arguments: [10, 20_000]) func `is freed once the table does not have it`(count: Int) {
        weak var first: CommentNode?
        weak var replaced: CommentNode?
        weak var removed: CommentNode?
        func fill(_ table: CommentTable) {
            for number in 0..<count {
                let node = node("c\(number)")
                switch number {
                case 0: first = node
                case 1: replaced = node
                case 2: removed = node
                default: break
                }
                #expect(table.update(node) == nil)
            }
            _ = table.update(node("c1"))
            _ = table.remove(.make("c2"))
        }
        do {
            let table = CommentTable()
            fill(table)
            #expect(table.count == count - 1)
            #expect(first != nil && replaced == nil && removed == nil)
            #expect(table[.make("c0")] === first)
        }
        #expect(first == nil)
    }

    private func node(_ id: String) -> CommentNode {
        var comment = plain
        comment.id = id
        return .make(
            comment, id: .make(id), parent: nil, subject: SharedSubject(comment.subject))
    }
}
