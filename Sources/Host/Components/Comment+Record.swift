import AtriumKit
import JSONCodec

extension Comment {
    /// The comment of a record that is as ``record`` makes it; nil for any other one, which is to be read as a value.
    init?(key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer) {
        guard let members = try? CommentMembers(record), let state = members.state,
            let created = members.created
        else { return nil }
        self.init(
            id: String(decoding: key, as: UTF8.self), subject: Subject(item: members.item),
            parent: members.parent, author: members.author.map { ActorID(Int64($0)) },
            text: members.text, state: state, created: Timestamp(milliseconds: Int64(created)),
            order: Int64(members.order ?? 0),
            edited: members.edited.map { Timestamp(milliseconds: Int64($0)) },
            fingerprint: members.text == nil ? "" : members.fingerprint ?? "")
        guard let reason = members.reason else { return }
        self.reason = reason
        moderator = members.moderator.map { ActorID(Int64($0)) }
    }
}

private struct CommentMembers {
    var state: Comment.State?
    var created: Int?
    var fingerprint: String?
    var item: String?
    var parent: String?
    var author: Int?
    var text: String?
    var order: Int?
    var edited: Int?
    var reason: String?
    var moderator: Int?

    /// Reads an object; throws where there are other members, or one stands twice.
    init(_ record: UnsafeRawBufferPointer) throws {
        var json = JSONReader(record)
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "state" where state == nil:
                guard let read = Comment.State(rawValue: try json.readString()) else {
                    throw Other()
                }
                state = read
            case "created" where created == nil: created = try json.readInt()
            case "fingerprint" where fingerprint == nil: fingerprint = try json.readString()
            case "item" where item == nil: item = try json.readString()
            case "parent" where parent == nil: parent = try json.readString()
            case "author" where author == nil: author = try json.readInt()
            case "text" where text == nil: text = try json.readString()
            case "order" where order == nil: order = try json.readInt()
            case "edited" where edited == nil: edited = try json.readInt()
            case "reason" where reason == nil: reason = try json.readString()
            case "moderator" where moderator == nil: moderator = try json.readInt()
            default: throw Other()
            }
        }
        try json.end()
    }

    /// The record is not as comments are written.
    private struct Other: Error {}
}
