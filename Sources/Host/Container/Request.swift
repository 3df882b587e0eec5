import AtriumKit
import Store

/// Where an outcome goes within the domain.
typealias Answer<Success> = (Result<Success, HostError>) -> Void

/// A command on its way to a component, with what is to happen at each end of that way.
struct Command {
    /// What the component is asked.
    var command: ComponentCommand
    /// On whose behalf, when, and with which fresh id.
    var context: CommandContext
    /// Whether it is judged against the committed state alone, and so waits until the component is
    /// quiet.
    var needsQuiet = false
    /// Whether it is part of work that holds the component's gate, and passes through it.
    var passesGate = false
    /// Asked right before the component is: what stands against the command; nil: nothing.
    var check: () -> HostError? = { nil }
    /// What becomes durable with the decision's changes; nil: without these changes, nothing.
    var entry: (Decision) -> EntryDraft?
    /// The outcome: the decision, and whether and as what it was committed.
    var done: (Result<Decided, HostError>) -> Void
}

/// A decision that is final.
struct Decided {
    var decision: Decision
    /// The entry's sequence; the current one when nothing was committed.
    var sequence: Int64
    /// Whether there was anything to commit.
    var isCommitted: Bool
}

/// What an entry holds beside its component's own changes.
struct EntryDraft {
    /// The topic, without the container's name.
    var topic: String
    /// The payload, as a JSON object.
    var payload: [UInt8]
    /// What only moderators see, as a JSON object.
    var restricted: [UInt8]?
    /// The comment whose text the notification tells.
    var comment: RecordKey?
    /// Changes of other components' records.
    var others: [RecordChange] = []
    /// What of other components goes as a whole.
    var purges: [Purge] = []
    /// Persons that the changes name, beside the one who acts.
    var people: [ActorID] = []
    /// Called at the commit, before the component's events are delivered.
    var atCommit: (() -> Void)?
}

/// A question on its way to a component.
struct Question {
    /// Whether only the committed state may answer, so that it waits until the component is quiet.
    var needsQuiet: Bool
    /// Whether it is part of work that holds the component's gate, and passes through it.
    var passesGate = false
    /// Whether a screen asks, which asks one at a time: how many there are is limited already.
    var isOfScreen = false
    /// Makes the question at the moment at which it is asked; nil: there is nothing to ask any more.
    ///
    /// Called again when the component's worker was lost before it answered.
    var make: () -> ComponentQuery?
    /// The answer; not called when there was nothing to ask.
    var done: (Result<ComponentAnswer, HostError>) -> Void
}

/// What waits for a component, or for its answer.
final class Request {
    enum Work {
        case command(Command)
        case question(Question)
    }

    let work: Work
    /// Its place in the order of all requests and operations.
    let number: UInt64
    /// How often the component's worker was lost while it was at this.
    var losses = 0
    /// The operation in the lane, while the component decides.
    var operation: UInt64?

    init(_ work: Work, number: UInt64) {
        self.work = work
        self.number = number
    }

    /// Whether it waits beside the commands.
    var isQuietRead: Bool {
        if case .question(let question) = work { question.needsQuiet } else { false }
    }

    var isOfScreen: Bool {
        if case .question(let question) = work { question.isOfScreen } else { false }
    }

    var needsQuiet: Bool {
        switch work {
        case .command(let command): command.needsQuiet
        case .question(let question): question.needsQuiet
        }
    }

    var passesGate: Bool {
        switch work {
        case .command(let command): command.passesGate
        case .question(let question): question.passesGate
        }
    }

    func fail(_ error: HostError) {
        switch work {
        case .command(let command): command.done(.failure(error))
        case .question(let question): question.done(.failure(error))
        }
    }
}
