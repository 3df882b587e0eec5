import AtriumKit

/// What a source was asked and has to answer, for a list on screens or a call.
final class Asking {
    /// What is to be found.
    let question: ContentQuestion
    /// Who wants the answer, or one of those who do: users take turns.
    let user: String
    /// Called with the answer, whose items are in the list by then, or with what went wrong.
    private(set) var done: ((Result<AskedAnswer, AskFailure>) -> Void)?
    /// Whether the component was asked.
    var isSent = false
    /// Whether the component's worker was lost while it was at this: the next one is asked it alone.
    var isSuspect = false

    init(
        _ question: ContentQuestion, for user: String,
        _ done: @escaping (Result<AskedAnswer, AskFailure>) -> Void
    ) {
        self.question = question
        self.user = user
        self.done = done
    }

    /// Whether somebody wants the answer.
    var isWanted: Bool { done != nil }

    /// Nobody wants the answer any more.
    func drop() { done = nil }

    /// It has come to an end.
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
    /// Keeps the items there until they are shown, or read.
    var pin: AnswerPin
}

/// Keeps the items of an answer for as long as somebody has this.
final class AnswerPin {
    private let ids: [String]
    private let source: AskedSource

    init(_ ids: [String], of source: AskedSource) {
        (self.ids, self.source) = (ids, source)
        source.pin(ids)
    }

    deinit { source.unpin(ids) }
}

/// What a source tells by itself while an answer from before is taken in.
final class ToldMeanwhile {
    private var newest: [String: Item?] = [:]

    /// It tells something.
    func take(_ change: ContentChange) {
        switch change {
        case .insert(let items), .update(let items):
            for item in items { newest.updateValue(item, forKey: item.id) }
        case .remove(let ids):
            for id in ids { newest.updateValue(nil, forKey: id) }
        default: break
        }
    }

    /// An answered item as it is by now; nil: it was removed.
    func current(_ item: Item) -> Item? {
        guard let told = newest[item.id] else { return item }
        return told
    }

    /// Whether an item was removed.
    func isGone(_ id: String) -> Bool {
        guard let told = newest[id] else { return false }
        return told == nil
    }
}

/// Why a source has no answer.
struct AskFailure: Error {
    /// A sentence for people.
    let reason: String
    /// What a call fails with.
    let error: HostError
    /// Whether it can't go on from where the question says.
    var isCursorInvalid: Bool { if case .cursorInvalid = error { true } else { false } }
}
