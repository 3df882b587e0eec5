import Interfaces

/// A comment while it is written.
struct CommentDraft: Equatable {
    /// The purpose of the draft: a new comment, a reply or an edit.
    enum Goal: Equatable {
        case comment(Request.Subject)
        case reply(Request.Subject, to: Comment)
        case edit(component: String, Comment)

        /// What is written, for the person.
        var title: String {
            switch self {
            case .comment(let subject): "Your comment on \(subject.title)"
            case .reply(_, let comment):
                "Your reply to \(comment.author.map { ActorName.shown($0) } ?? "a comment")"
            case .edit: "Your comment, edited"
            }
        }

        /// Whether two drafts are for the same place.
        func isSame(as other: Goal) -> Bool {
            switch (self, other) {
            case (.comment(let one), .comment(let two)):
                one.component == two.component && one.item == two.item
            case (.reply(_, let one), .reply(_, let two)), (.edit(_, let one), .edit(_, let two)):
                one.id == two.id
            default: false
            }
        }
    }

    /// A text that was sent without a reply so far; the daemon may have accepted it.
    struct Sent: Equatable {
        var text: String
        var id: String
    }

    var goal: Goal
    var sent: Sent?

    /// The request that sends a text: what was sent before keeps its id, so that it is never there twice.
    func request(_ text: String, freshID: () -> String) -> Request {
        let id = sent.flatMap { $0.text == text ? $0.id : nil }
        switch goal {
        case .comment(let subject):
            return .post(subject, parent: nil, text: text, id: id ?? freshID())
        case .reply(let subject, let comment):
            return .post(subject, parent: comment.id, text: text, id: id ?? freshID())
        case .edit(let component, let comment):
            return .edit(component: component, comment: comment.id, text: text)
        }
    }

    /// An id that no other comment has: the time, since ids that follow each other are cheapest to store, and 80 random
    /// bits.
    static func freshID() -> String {
        let random = (0..<16).map { _ in String(Int.random(in: 0..<32), radix: 32) }
        return String(Int(WireTime.now * 1_000), radix: 32) + random.joined()
    }
}

/// A text that was written and could not be sent, and what for.
struct UnsentText: Equatable {
    var draft: CommentDraft
    var text: String
}

/// Texts that could not be sent: the next comment or reply begins with the last of them.
struct Drafts {
    private(set) var unsent: [UnsentText] = []

    /// Keeps a text for the next comment or reply; returns whether there is anything in it.
    @discardableResult
    mutating func keep(_ draft: CommentDraft, _ text: String) -> Bool {
        guard text.contains(where: { !$0.isWhitespace }) else { return false }
        unsent.append(UnsentText(draft: draft, text: text))
        return true
    }

    /// Takes out the text to begin with, its draft as one for this goal; nil: there is none.
    mutating func remove(for goal: CommentDraft.Goal) -> UnsentText? {
        let isEdit = if case .edit = goal { true } else { false }
        let place =
            unsent.lastIndex { $0.draft.goal.isSame(as: goal) }
            ?? (isEdit ? nil : unsent.indices.last)
        guard let place else { return nil }
        let found = unsent.remove(at: place)
        let sent = found.draft.goal.isSame(as: goal) ? found.draft.sent : nil
        return UnsentText(draft: CommentDraft(goal: goal, sent: sent), text: found.text)
    }
}

extension Browser {
    /// Begins to write: with what could not be sent before, if anything, else with a text.
    mutating func write(_ goal: CommentDraft.Goal, _ text: String = "") {
        let kept = drafts.remove(for: goal)
        if kept != nil { status.say("this was not sent before; ^U empties it") }
        mode = .write(
            kept?.draft ?? CommentDraft(goal: goal), TextInput(kept?.text ?? text, hasLines: true))
    }

    /// Keeps what is being written, since it has no place any more; returns whether there was something.
    @discardableResult
    mutating func keepDraft() -> Bool {
        guard case .write(let draft, let input) = mode else { return false }
        mode = .browse
        return drafts.keep(draft, input.text)
    }

    /// A comment was refused, or did not arrive: its text is there again, or once somebody comments next if its place
    /// is not shown any more: a text does not go to another.
    mutating func giveBack(_ request: Request, isHere: Bool) {
        let (draft, text): (CommentDraft, String)
        let talk = windows.talk(in: screen)
        var isKnown = true
        switch request {
        case .post(let subject, let parent, let sent, let id):
            let known = parent.flatMap { id in talk.first { $0.id == id } }
            isKnown = parent == nil || known != nil
            draft = CommentDraft(
                goal: known.map { .reply(subject, to: $0) } ?? .comment(subject),
                sent: .init(text: sent, id: id))
            text = sent
        case .edit(let component, let id, let edited):
            guard let comment = (talk + screen.model.held).first(where: { $0.id == id }) else {
                let focus = screen.model.focus.isEmpty ? nil : screen.model.focus
                drafts.keep(CommentDraft(goal: .comment(subject(component, focus))), edited)
                return status.add(Self.keptHint)
            }
            draft = CommentDraft(goal: .edit(component: component, comment))
            text = edited
        default: return
        }
        thread.setAwaited(nil)
        if mode == .browse, isKnown, isHere {
            mode = .write(draft, TextInput(text, hasLines: true))
        } else {
            drafts.keep(draft, text)
            status.add(Self.keptHint)
        }
    }

    private static let keptHint = "; your next comment begins with your text"
}
