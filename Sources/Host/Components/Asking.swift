import AtriumKit

/// One question to a source, for a list on screens or for a call.
final class Asking {
    /// The question that is sent.
    let question: ContentQuestion
    /// The user who wants the answer, or one of them: the queue is fair between users.
    let user: String
    /// Called with the answer, whose items are in the list by then, or with the failure.
    private(set) var done: ((Result<AskedAnswer, AskFailure>) -> Void)?
    /// Whether the question was sent to the component.
    var isSent = false
    /// Whether the component's worker was lost while it had this question: it is then sent to the next one alone.
    var isSuspect = false

    init(
        _ question: ContentQuestion, for user: String,
        _ done: @escaping (Result<AskedAnswer, AskFailure>) -> Void
    ) {
        self.question = question
        self.user = user
        self.done = done
    }

    /// Whether somebody waits for the answer.
    var isWanted: Bool { done != nil }

    /// Gives the question up: nobody waits for the answer any more.
    func drop() { done = nil }

    /// Replies with an answer or a failure, once.
    func end(_ result: Result<AskedAnswer, AskFailure>) {
        let done = done
        self.done = nil
        done?(result)
    }
}

/// An answer whose items are in the list.
struct AskedAnswer {
    var ids: [String]
    var total: Int?
    var next: String?
    /// Keeps the items in the list until they are shown or read.
    var pin: AnswerPin
}

/// Keeps the items of an answer in the list while this object exists.
final class AnswerPin {
    private let ids: [String]
    private let source: AskedSource

    init(_ ids: [String], of source: AskedSource) {
        (self.ids, self.source) = (ids, source)
        source.pin(ids)
    }

    deinit { source.unpin(ids) }
}

/// The changes that a source reports by itself while an older answer is being put into the list.
final class ChangesMeanwhile {
    private var newest: [String: Item?] = [:]

    /// Records a reported change.
    func record(_ change: ContentChange) {
        switch change {
        case .insert(let items), .update(let items):
            for item in items { newest.updateValue(item, forKey: item.id) }
        case .remove(let ids):
            for id in ids { newest.updateValue(nil, forKey: id) }
        default: break
        }
    }

    /// The newest value of an answered item; nil if it was removed.
    func current(_ item: Item) -> Item? {
        guard let reported = newest[item.id] else { return item }
        return reported
    }

    /// Whether an item was removed.
    func isGone(_ id: String) -> Bool {
        guard let reported = newest[id] else { return false }
        return reported == nil
    }
}

/// Why a source did not answer.
struct AskFailure: Error {
    /// A sentence for people.
    let reason: String
    let error: HostError
    /// Whether the question's cursor is invalid, so that it has to be asked from the start.
    var isCursorInvalid: Bool { if case .cursorInvalid = error { true } else { false } }
}
