/// One comment on a subject, or one reply to another comment.
///
/// Its parts are in an object that copies share until one of them changes: a comment is passed on many times.
public struct Comment: Sendable {
    /// The visibility of a comment.
    public enum State: String, Sendable, Hashable, Codable {
        /// Visible to everyone.
        case shown
        /// Waiting for a moderator.
        case pending
        /// Deleted: a tombstone, shown only if it has replies.
        case removed
    }

    private struct Parts: Sendable, Hashable, Codable {
        var id: String
        var subject: Subject
        var parent: String?
        var author: ActorID?
        var text: String?
        var state: State
        var created: Timestamp
        var order: Int64 = 0
        var edited: Timestamp?
        var fingerprint: String
        var reason: String?
        var moderator: ActorID?
    }

    /// The parts of one comment, or of several that are equal.
    // It is changed only through a mutating access to a comment that shares the object with no other: see `own()`.
    private final class Shared: @unchecked Sendable {
        var parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    private var shared: Shared

    /// Its id, unique in the component.
    public var id: String {
        get { shared.parts.id }
        set { own().parts.id = newValue }
    }
    /// The subject of the comment.
    public var subject: Subject {
        get { shared.parts.subject }
        set { own().parts.subject = newValue }
    }
    /// The comment to which this is a reply; nil: a comment on the subject itself.
    public var parent: String? {
        get { shared.parts.parent }
        set { own().parts.parent = newValue }
    }
    /// The author; nil once erased.
    public var author: ActorID? {
        get { shared.parts.author }
        set { own().parts.author = newValue }
    }
    /// The text; nil for a tombstone.
    public var text: String? {
        get { shared.parts.text }
        set { own().parts.text = newValue }
    }
    /// The visibility.
    public var state: State {
        get { shared.parts.state }
        set { own().parts.state = newValue }
    }
    /// The time at which it was posted.
    public var created: Timestamp {
        get { shared.parts.created }
        set { own().parts.created = newValue }
    }
    /// The order among comments posted at the same time: ``CommandContext/order``; 0 if unknown.
    public var order: Int64 {
        get { shared.parts.order }
        set { own().parts.order = newValue }
    }
    /// The time of the last edit; nil: never edited.
    public var edited: Timestamp? {
        get { shared.parts.edited }
        set { own().parts.edited = newValue }
    }
    /// A digest of the text as first posted, by which a repeated post is recognised.
    ///
    /// A record without a text has none, and none is read from it: it would confirm a guess of what was deleted.
    public var fingerprint: String {
        get { shared.parts.fingerprint }
        set { own().parts.fingerprint = newValue }
    }
    /// The moderator's reason to hold or remove it, shown only to its author and to moderators; nil: none is given.
    public var reason: String? {
        get { shared.parts.reason }
        set { own().parts.reason = newValue }
    }
    /// The moderator who gave the reason; nil if there is none.
    public var moderator: ActorID? {
        get { shared.parts.moderator }
        set { own().parts.moderator = newValue }
    }

    /// The maximum number of characters (Unicode scalars) of a reason.
    public static let reasonLength = 500

    /// Creates a comment.
    public init(
        id: String, subject: Subject, parent: String?, author: ActorID?, text: String?,
        state: State = .shown, created: Timestamp, order: Int64 = 0, edited: Timestamp? = nil,
        fingerprint: String
    ) {
        shared = Shared(
            Parts(
                id: id, subject: subject, parent: parent, author: author, text: text, state: state,
                created: created, order: order, edited: edited, fingerprint: fingerprint))
    }

    /// Returns the object with the parts, copied first if it is shared.
    private mutating func own() -> Shared {
        if !isKnownUniquelyReferenced(&shared) { shared = Shared(shared.parts) }
        return shared
    }
}

extension Comment: Hashable {
    /// Whether both have the same parts.
    public static func == (one: Comment, other: Comment) -> Bool {
        one.shared === other.shared || one.shared.parts == other.shared.parts
    }

    /// Hashes all parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(shared.parts) }
}

extension Comment: Codable {
    /// Decodes an object with the parts by name.
    public init(from decoder: any Decoder) throws {
        shared = Shared(try Parts(from: decoder))
    }

    /// Encodes an object with the parts by name.
    public func encode(to encoder: any Encoder) throws { try shared.parts.encode(to: encoder) }
}

// MARK: As a record

extension Comment.State {
    /// Same result as by the raw value, without a look through all cases for the most frequent one.
    fileprivate init?(record: String) {
        if record == "shown" { self = .shown } else { self.init(rawValue: record) }
    }
}

extension Comment {
    /// The comment that a record holds, under its id; nil when the record is malformed.
    public init?(key: String, value: Value) {
        guard let object = value.object else { return nil }
        var state: State?
        var created: Int64?
        // Filled in place: a copy would count the references of all parts again.
        let shared = Shared(
            Parts(
                id: key, subject: .container, state: .shown, created: Timestamp(milliseconds: 0),
                fingerprint: ""))
        // One pass over all members is faster than looking up each.
        for (name, value) in object {
            // By length first: it is known, and distinguishes most of them.
            switch name.utf8.count {
            case 4:
                if name == "text" { shared.parts.text = value.text }
                if name == "item" { shared.parts.subject = Subject(item: value.text) }
            case 5:
                if name == "state" { state = value.text.flatMap(State.init(record:)) }
                if name == "order" { shared.parts.order = value.int ?? 0 }
            case 6:
                if name == "author" { shared.parts.author = value.int.map(ActorID.init) }
                if name == "parent" { shared.parts.parent = value.text }
                if name == "edited" {
                    shared.parts.edited = value.int.map(Timestamp.init(milliseconds:))
                }
                if name == "reason" { shared.parts.reason = value.text }
            case 7:
                if name == "created" { created = value.int }
            case 9:
                if name == "moderator" { shared.parts.moderator = value.int.map(ActorID.init) }
            case 11:
                if name == "fingerprint" { shared.parts.fingerprint = value.text ?? "" }
            default: break
            }
        }
        guard let state, let created else { return nil }
        shared.parts.state = state
        shared.parts.created = Timestamp(milliseconds: created)
        if shared.parts.reason == nil { shared.parts.moderator = nil }
        if shared.parts.text == nil { shared.parts.fingerprint = "" }
        self.shared = shared
    }

    /// The comment as a record.
    public var record: Change {
        // With capacity for all members: growing would hash the names again.
        var object: [String: Value] = Dictionary(minimumCapacity: 11)
        object["state"] = .text(state.rawValue)
        object["created"] = .int(created.milliseconds)
        object["fingerprint"] = .text(text == nil ? "" : fingerprint)
        if let item = subject.item { object["item"] = .text(item) }
        if let parent { object["parent"] = .text(parent) }
        if let author { object["author"] = .int(author.number) }
        if let text { object["text"] = .text(text) }
        if order != 0 { object["order"] = .int(order) }
        if let edited { object["edited"] = .int(edited.milliseconds) }
        if let reason {
            object["reason"] = .text(reason)
            if let moderator { object["moderator"] = .int(moderator.number) }
        }
        return .put(key: id, value: .object(object))
    }
}

/// A comment to be posted.
public struct CommentDraft: Sendable, Hashable, Codable {
    /// Its id: the caller's, or a fresh one.
    public var id: String
    /// The subject of the comment.
    public var subject: Subject
    /// The comment to reply to; nil: the subject itself.
    public var parent: String?
    /// The text.
    public var text: String

    /// Creates a draft.
    public init(id: String, subject: Subject, parent: String?, text: String) {
        self.id = id
        self.subject = subject
        self.parent = parent
        self.text = text
    }

    /// The digest of the text for ``Comment/fingerprint``: 64 bits of FNV-1a over its UTF-8, as 16
    /// hexadecimal digits.
    ///
    /// It distinguishes a repeated post from another one under the same id; it proves nothing to someone
    /// who looks for collisions.
    public var fingerprint: String {
        var text = text
        // Over the bytes in memory: an iterator of the text takes several times as long.
        let hash = text.withUTF8 { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return hash
        }
        return String(unsafeUninitializedCapacity: 16) { digits in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: hash >> UInt64(60 - 4 * place)) & 15
                digits[place] = digit < 10 ? 48 + digit : 87 + digit
            }
            return 16
        }
    }
}
