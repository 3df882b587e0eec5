import AtriumKit
import Index
import JSONCodec

/// A record to restore: its shape is checked, its actor is still a name.
struct RecordDraft {
    var component: String
    var kind: Kind
    var key: String
    var actor: String?
    /// The moderator who gave a comment's reason.
    var moderator: String?
    /// The value as it is stored, without nulls; a comment's without author and moderator.
    var value: [String: Value]

    /// The change that restores it; its actor must be known.
    func change(_ actors: ActorTable) -> Change {
        let actor = actor.flatMap { actors.number(of: $0) }
        switch (kind, actor) {
        case (.votes, let actor?):
            let subject = Subject(item: key.isEmpty ? nil : key)
            return .put(key: Ballot.key(actor: actor, subject: subject), value: .object(value))
        case (.comments, _):
            var value = value
            value["author"] = (actor?.number).map(Value.int)
            let moderator = moderator.flatMap { actors.number(of: $0) }
            value["moderator"] = (moderator?.number).map(Value.int)
            return .put(key: key, value: .object(value))
        default:
            return .put(key: key, value: .object(value))
        }
    }
}

/// Reads records to restore, and checks them against their components' kinds.
struct RecordReader {
    /// The range of valid times: the years 1970 to 9999.
    private static let validTimes: ClosedRange<Int64> = 0...253_402_300_799_999

    /// The kind of each attached component.
    let kinds: [String: Kind]
    let container: String
    let checker: FieldChecker

    /// Returns the records, or throws the first error.
    func read(_ records: [RecordView]) throws(HostError) -> [RecordDraft] {
        var drafts: [RecordDraft] = []
        var seen: Set<[String]> = []
        for record in records {
            guard seen.insert([record.component, record.key, record.ballotActor]).inserted else {
                throw record.invalid("The record occurs twice in the call.")
            }
            drafts.append(try read(record))
        }
        return drafts
    }

    private func read(_ record: RecordView) throws(HostError) -> RecordDraft {
        guard let kind = kinds[record.component] else {
            throw .componentNotFound(container: container, component: record.component)
        }
        guard record.kind == kind.rawValue else {
            throw record.invalid(
                "It is of the kind '\(record.kind)', and its component of '\(kind.rawValue)'.")
        }
        guard let value = try? Value(jsonBytes: record.value), let object = value.object else {
            throw record.invalid("Its value is no JSON object.")
        }
        do {
            try WholeNumbers.check(record.value)
        } catch {
            throw record.invalid("\(error)")
        }
        var draft = RecordDraft(
            component: record.component, kind: kind, key: record.key, actor: record.actor,
            value: object.filter { !$0.value.isNull })
        let problem =
            switch kind {
            case .contents: checkItem(&draft)
            case .votes: checkBallot(draft)
            case .comments: checkComment(&draft)
            case .filters: "Filters keep no records."
            @unknown default: "Nothing is known of this kind."
            }
        if let problem = problem ?? record.actor.flatMap(Self.problem(inActor:)) {
            throw record.invalid(problem)
        }
        return draft
    }

    private func checkItem(_ draft: inout RecordDraft) -> String? {
        if let fields = draft.value["fields"]?.object {
            draft.value["fields"] = .object(fields.filter { !$0.value.isNull })
        }
        guard draft.actor == nil else { return "An item must not have an actor." }
        guard let item = Item(key: draft.key, value: .object(draft.value)) else {
            return "An item's value must have 'fields', an object."
        }
        if let name = draft.value.notText(["parent"]) { return "'\(name)' is no text." }
        if item.parent == item.id { return "It can't be its own parent." }
        return checker.check(item)?.description
    }

    private func checkBallot(_ draft: RecordDraft) -> String? {
        guard draft.actor != nil else { return "A ballot must have an actor." }
        let subject = Subject(item: draft.key.isEmpty ? nil : draft.key)
        let key = Ballot.key(actor: ActorID(1), subject: subject)
        guard let ballot = Ballot(key: key, value: .object(draft.value)), ballot.value.isFinite
        else { return "A ballot's value must have 'value', a number, and 'cast', in milliseconds." }
        guard Self.validTimes.contains(ballot.cast.milliseconds) else {
            return "'cast' must be a time from 1970 to 9999, in milliseconds."
        }
        return subject.item.flatMap(Self.problem(inID:))
    }

    private func checkComment(_ draft: inout RecordDraft) -> String? {
        guard let comment = Comment(key: draft.key, value: .object(draft.value)) else {
            return "A comment's value has 'state' (shown, pending or removed) and 'created', in "
                + "milliseconds."
        }
        if draft.value["author"] != nil { return "Its author is the record's 'actor'." }
        if let name = draft.value.notText(
            ["item", "parent", "text", "fingerprint", "reason", "moderator"])
        {
            return "'\(name)' is no text."
        }
        if let length = comment.reason?.unicodeScalars.count, length > Comment.reasonLength {
            return "'reason' has \(length) characters, at most \(Comment.reasonLength) are allowed."
        }
        draft.moderator = draft.value.removeValue(forKey: "moderator")?.text
        if let problem = draft.moderator.flatMap(Self.problem(inActor:)) { return problem }
        if comment.fingerprint.utf8.count > Comment.fingerprintBytes {
            return "'fingerprint' has \(comment.fingerprint.utf8.count) bytes, at most "
                + "\(Comment.fingerprintBytes) are allowed."
        }
        if draft.value["edited"] != nil, comment.edited == nil { return "'edited' is no number." }
        if let order = draft.value["order"], order.int == nil {
            return "'order' is no whole number."
        }
        for moment in [comment.created, comment.edited].compactMap(\.self)
        where !Self.validTimes.contains(moment.milliseconds) {
            return "\(moment.milliseconds) is no moment from 1970 to 9999, in milliseconds."
        }
        if comment.text == nil, comment.state != .removed {
            return "Only a removed comment has no 'text'."
        }
        if comment.parent == comment.id { return "It can't be its own parent." }
        return [comment.id, comment.subject.item, comment.parent].lazy.compactMap(\.self)
            .compactMap(Self.problem(inID:)).first
    }

    private static func problem(inID id: String) -> String? {
        ItemID.problem(in: id).map { "An id is \(ItemID.expectation), found \($0)." }
    }

    private static func problem(inActor name: String) -> String? {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, name.utf8.count <= 200,
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return "An actor is written namespace:name, in at most 200 bytes." }
        return nil
    }
}

extension RecordView {
    /// The record's approximate size on the wire, in bytes.
    var size: Int {
        component.utf8.count + kind.utf8.count + key.utf8.count + (actor?.utf8.count ?? 0)
            + value.count
    }

    /// Distinguishes ballots with the same key.
    fileprivate var ballotActor: String { kind == Kind.votes.rawValue ? actor ?? "" : "" }

    fileprivate func invalid(_ reason: String) -> HostError {
        .recordInvalid(component: component, key: key, reason: reason)
    }
}

extension [String: Value] {
    /// The first of these members that exists and is not a text.
    fileprivate func notText(_ names: [String]) -> String? {
        names.first { self[$0] != nil && self[$0]?.text == nil }
    }
}
