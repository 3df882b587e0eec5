import AtriumKit

/// The ends and failed starts of a component in a row, and its restarts.
final class ComponentFailures {
    /// The number of workers in a row that calls may end before the component, and not the calls, is blamed.
    private static let mostPoisonings = 8

    /// The number of ends and failed starts in a row, without an answer in between.
    private(set) var count = 0
    /// How many of these were starts that failed.
    private var failedStarts = 0
    /// The number of workers in a row that were ended by calls, without an answer in between.
    private var poisonings = 0
    /// The restarts of the component since it was first made.
    private(set) var restarts: ComponentRestarts?
    /// Whether it has failed so often that calls don't wait for it.
    private(set) var isRefusing = false
    /// The calls whose last answer broke a rule, by name: how often in a row, and how.
    private var wrongAnswers: [String: (count: Int, reason: String)] = [:]

    /// Counts an end, or a failed start.
    func add(isStart: Bool) {
        count += 1
        if isStart { failedStarts += 1 }
    }

    /// Records when and why the component is started again.
    func pause(until next: Timestamp, because cause: String) {
        var restarts = self.restarts ?? ComponentRestarts(cause: cause)
        restarts.count += 1
        (restarts.failures, restarts.failedStarts) = (count, failedStarts)
        restarts.cause = cause
        restarts.next = next
        self.restarts = restarts
    }

    /// Records that a call ended the worker, so that the component is not to blame.
    func recordPoisoning() {
        poisonings += 1
        if poisonings <= Self.mostPoisonings { (count, failedStarts) = (0, 0) }
    }

    /// Forgets the failures, because the component has answered or somebody needs it.
    func reset() {
        (count, failedStarts) = (0, 0)
        poisonings = 0
        restarts?.failures = 0
        restarts?.failedStarts = 0
    }

    /// Records that the answer to a call broke a rule, which ends the worker.
    func recordWrongAnswer(to call: String, because reason: String) {
        wrongAnswers[call] = (count: (wrongAnswers[call]?.count ?? 0) + 1, reason: reason)
    }

    /// Records that the answer to a call breaks no rule; returns whether ``problem(hasDetails:)`` has changed.
    ///
    /// `call` is its name, which is not looked up as long as all last answers are right.
    func recordRightAnswer(to call: @autoclosure () -> String) -> Bool {
        let before = isWrongAgain
        if !wrongAnswers.isEmpty { wrongAnswers[call()] = nil }
        recordReply()
        return before != isWrongAgain
    }

    /// Records a reply that says nothing about how calls are answered, such as a refusal.
    ///
    /// The failures are forgotten, unless the answers to a call are wrong again and again: the pauses before the
    /// restarts would otherwise never grow.
    func recordReply() {
        if !isWrongAgain { reset() }
    }

    /// Forgets wrong answers, because the component is another one or has other settings.
    func forgetWrongAnswers() { wrongAnswers = [:] }

    private var isWrongAgain: Bool { wrongAnswers.values.contains { $0.count > 1 } }

    /// The problem of answers that are wrong again and again, as the continuation of "It"; nil: there is none.
    func problem(hasDetails: Bool) -> String? {
        let calls = wrongAnswers.sorted { $0.key < $1.key }
        guard let (call, wrong) = calls.first(where: { $0.value.count > 1 }) else { return nil }
        let sentence = "answered the call '\(call)' wrongly \(wrong.count) times in a row"
        return hasDetails ? "\(sentence): \(wrong.reason)" : sentence
    }

    /// Records that calls don't wait for the component any more; returns whether they did before.
    func markRefusing() -> Bool {
        defer { isRefusing = true }
        return !isRefusing
    }

    /// Records that the component is attached: calls wait for it again, and no start is scheduled.
    func recover() {
        isRefusing = false
        restarts?.next = nil
    }
}

extension Timestamp {
    /// The time that is `time` later.
    func after(_ time: Duration) -> Timestamp {
        let (seconds, fraction) = time.components
        return Timestamp(
            milliseconds: milliseconds + seconds * 1_000 + fraction / 1_000_000_000_000_000)
    }
}
