import AtriumKit
import Index
import Store

// Maps refusals and errors of components, the store, field checks and the index to host errors.
extension HostError {
    /// The longest time after which a refusal may ask to try again, in seconds: a year.
    private static let mostRetry = 31_536_000.0

    /// The error for a refusal by a component or a delegate.
    ///
    /// A missing reason is replaced, and a time that is none is dropped.
    init(_ refusal: Refusal, container: String, component: String) {
        var refusal = refusal
        if refusal.reason.isEmpty {
            refusal.reason = "The component '\(component)' refused the call and gave no reason."
        }
        refusal.retryAfter = refusal.retryAfter.flatMap {
            (0...Self.mostRetry).contains($0) ? $0 : nil
        }
        let evidence = refusal.evidence
        func about(_ name: String) -> String { evidence[name] ?? "" }
        self =
            switch refusal.code {
            case .refused: .refused(reason: refusal.reason, retryAfter: refusal.retryAfter)
            case .fieldInvalid:
                .fieldInvalid(
                    item: about("item"), field: about("field"),
                    expected: evidence["expected"] ?? refusal.reason, found: about("found"))
            case .readOnly: .readOnly(component: component, reason: refusal.reason)
            case .itemNotFound: .itemNotFound(container: container, item: about("item"))
            case .commentNotFound: .commentNotFound(about("comment"))
            case .filterNotFound:
                .filterNotFound(
                    section: about("section"), filter: about("filter"), known: [],
                    reason: refusal.reason)
            case .conflict: .conflict(comment: about("comment"), reason: refusal.reason)
            case .cursorInvalid: .cursorInvalid(refusal.reason)
            case .limitExceeded:
                .limitExceeded(
                    limit: about("limit"), value: Int(about("value")) ?? 0,
                    retryAfter: refusal.retryAfter)
            @unknown default:
                .refused(reason: refusal.reason, retryAfter: refusal.retryAfter)
            }
    }

    init(_ failure: EntryFailure) {
        self =
            switch failure {
            case .storage(let reason):
                .storeUnavailable(
                    reason: "The entry could not be written: \(reason).", retryAfter: 1)
            case .tooLarge:
                .limitExceeded(limit: "entryBytes", value: Entry.mostBytes, retryAfter: nil)
            case .unavailable(let retryAfter):
                .storeUnavailable(
                    reason: "The store is not writable for now.", retryAfter: retryAfter)
            case .damaged(let reason):
                .storeUnavailable(reason: "The store takes no writes: \(reason).", retryAfter: nil)
            case .olderEpoch, .stale:
                .storeUnavailable(
                    reason: "An earlier entry could not be written, and this one depended "
                        + "on it.", retryAfter: 0.1)
            }
    }

    /// The error for an answer of another case than the question's.
    static func wrongAnswer(of component: String) -> HostError {
        .componentUnavailable(
            component: component, reason: "The component returned an answer of the wrong type.",
            retryAfter: 1)
    }

    /// The error for a store whose file can't be read.
    static func unreadable(_ error: any Error) -> HostError {
        // A damaged store stays damaged, and a lost one lost: a retry would not help.
        let seconds: Double? =
            switch error {
            case StoreError.corrupt, StoreError.gone, StoreError.lost: nil
            default: 1
            }
        return .storeUnavailable(reason: "The store can't be read: \(error)", retryAfter: seconds)
    }

    init(_ problem: FieldProblem) {
        self =
            switch problem.field {
            case "id", "parent":
                .itemInvalid(
                    item: problem.item,
                    reason: "The \(problem.field): expected \(problem.expected), found "
                        + "\(problem.found).")
            default:
                .fieldInvalid(
                    item: problem.item, field: problem.field, expected: problem.expected,
                    found: problem.found)
            }
    }
}

extension HostError {
    init(_ error: IndexError) {
        switch error {
        case .sortFieldUnknown(let field, let known):
            self = .fieldUnknown(field: field, known: known)
        case .cursorInvalid(let reason): self = .cursorInvalid(reason)
        }
    }
}
