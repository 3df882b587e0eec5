import AtriumKit
import JSONCodec
import Store

/// A comment to be posted.
public struct Post {
    /// The id of the item it is about; nil: the container, or the subject of the parent.
    public var item: String?
    /// The id of the comment it replies to; nil: none.
    public var parent: String?
    /// The text.
    public var text: String
    /// An id chosen by the caller; nil: a new one is generated.
    public var id: String?

    /// Makes a comment to be posted.
    public init(item: String?, parent: String?, text: String, id: String?) {
        self.item = item
        self.parent = parent
        self.text = text
        self.id = id
    }
}

/// The command that posts a comment.
final class PostCommand: Command {
    private let draft: CommentDraft
    private let reply: Answer<CommentResult>

    init(
        _ post: Post, to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        let context = CommandContext(of: caller, in: container.domain)
        let draft = CommentDraft(
            id: post.id ?? context.freshID, subject: Subject(item: post.item),
            parent: post.parent, text: post.text)
        self.draft = draft
        self.reply = reply
        super.init(.postComment(draft), on: slot, of: container, context)
    }

    override func objection() -> HostError? {
        container.absence(of: draft.subject.item) ?? closure(of: .comments)
            ?? veto {
                container.delegate.comments($0, shouldAccept: draft, by: context.actor)
            }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        decision.draft(.commentsPosted, of: container.name, slot.name, text: true, parent: true)
    }

    override func end(_ result: Result<Decided, HostError>) {
        guard case .success(let decided) = result, !decided.isCommitted else {
            return container.comments.answer(result, reply)
        }
        container.comments.answerRepetition(decided, of: draft.id, in: slot, reply)
    }
}

/// A change of an existing comment.
enum CommentChange {
    case edit(text: String)
    /// By its author or a moderator.
    ///
    /// - Parameter wasHeld: whether the comment was held for moderation. Nobody else has seen it then, so who deleted
    ///   it is as secret as who wrote it.
    case delete(wasHeld: Bool)
    /// By a moderator.
    ///
    /// - Parameter seen: when the text that the moderator saw was written; nil: the text is not compared.
    case moderate(Comment.State, reason: String?, seen: String?)

    /// The same change, with what depends on the comment before it.
    func knowing(_ before: Comment) -> CommentChange {
        if case .delete = self { .delete(wasHeld: before.state == .pending) } else { self }
    }
}

/// The command that edits, deletes or moderates a comment.
final class CommentCommand: Command {
    private let change: CommentChange
    private let comment: String
    /// The item of the comment, which must still exist; nil: the subject is the container or not known, and is not
    /// checked.
    private let item: String?
    private let reply: Answer<CommentResult>

    init(
        _ change: CommentChange, of comment: String, on item: String?, to slot: Slot,
        of container: Container, by caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        self.change = change
        self.comment = comment
        self.item = item
        self.reply = reply
        let command: ComponentCommand =
            switch change {
            case .edit(let text): .editComment(id: comment, text: text)
            case .delete: .deleteComment(id: comment)
            case .moderate(let state, let reason, let seen):
                .moderateComment(id: comment, state: state, reason: reason, seen: seen)
            }
        super.init(
            command, on: slot, of: container, CommandContext(of: caller, in: container.domain))
    }

    override func objection() -> HostError? {
        if let absence = container.absence(of: item) { return absence }
        guard case .edit(let text) = change else { return nil }
        return closure(of: .comments)
            ?? veto {
                container.delegate.comments(
                    $0, shouldAcceptEdit: text, of: comment, by: context.actor)
            }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        let (container, component) = (container.name, slot.name)
        return switch change {
        case .edit:
            decision.draft(.commentsEdited, of: container, component, text: true)
        case .delete(let wasHeld):
            decision.draft(.commentsRemoved, of: container, component, wasHeld: wasHeld)
        case .moderate(let state, _, _):
            // The reason is for the author and moderators only, so it is kept in the comment's record alone.
            decision.draft(.commentsModerated, of: container, component, state: state)
        }
    }

    override func end(_ result: Result<Decided, HostError>) {
        // A moderator may give reasons, and so may read them.
        guard case .moderate = change else { return container.comments.answer(result, reply) }
        container.comments.answer(result, withReason: true, reply)
    }
}

extension Decision {
    /// The entry about a change of a comment; nil if nothing changes.
    ///
    /// It refers to the comment's record for the text.
    fileprivate func draft(
        _ topic: EntryTopic, of container: String, _ component: String, text: Bool = false,
        parent: Bool = false, state: Comment.State? = nil, wasHeld: Bool = false
    ) -> EntryDraft? {
        guard !changes.isEmpty, case .comment(let entry) = answer else { return nil }
        let comment = entry.comment
        // A held comment and its author must not be visible to everyone.
        let isHeld = text && comment.state != .shown
        return EntryDraft(
            topic: topic,
            payload: Payload.object {
                $0.member("component", component)
                $0.member("item", comment.subject.item)
                $0.member("comment", comment.id)
                if parent { $0.member("parent", comment.parent) }
                $0.member("state", state?.rawValue)
            },
            restricted: isHeld || wasHeld ? Payload.object { _ in } : nil,
            comment: text
                ? RecordKey(container: container, component: component, key: comment.id) : nil)
    }
}
