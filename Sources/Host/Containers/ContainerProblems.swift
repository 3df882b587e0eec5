import AtriumKit
import Index
import PluginLoader
import Store

/// The problems of a container: delegates, time zones, components and parts that are not as the definition says.
struct ContainerProblems {
    let container: Container
    /// Whether they say how components and delegates failed: for moderators and administrators.
    let hasDetails: Bool

    /// A sentence for each problem.
    var sentences: [String] {
        (delegates + container.zones.failures + missingParts + lostParts).map {
            "The \($0.what) of \(container.name) \($0.reason)"
        }
            + failedComponents.map { "The component \(container.name)/\($0.name) \($0.reason)" }
    }

    /// The problems within the container, for its status; nil: there are none.
    var summary: String? {
        var failures = all.map { "the \($0.what) \($0.reason)" }
        // It is unknown which containers the lost changes belonged to.
        if !container.domain.store.damages.isEmpty {
            failures.append(
                "the store was damaged, and changes may be lost: see the daemon's status")
        }
        // A missing notification may have been of any container.
        if container.domain.pastDamage.affects(container.name)
            || container.domain.missingEntries > 0
        {
            failures.append("past notifications of it are damaged: see the daemon's status")
        }
        return failures.isEmpty ? nil : failures.joined(separator: "; ")
    }

    private var all: [(what: String, reason: String)] {
        delegates + container.zones.failures
            + failedComponents.map { ("component \($0.name)", $0.reason) } + missingParts
            + lostParts
    }

    private var delegates: [(what: String, reason: String)] {
        container.delegates.failures.map { ($0.what, hasDetails ? $0.reason : "failed") }
    }

    private var failedComponents: [(name: String, reason: String)] {
        container.slots.compactMap { slot in
            if case .failed = slot.state { return (slot.name, "failed\(details(slot.absence))") }
            if slot.start.watch.stall != nil {
                return (slot.name, "does not start\(details(slot.absence))")
            }
            if let restarts = slot.restarts, let next = restarts.next, restarts.failures > 2 {
                return (
                    slot.name,
                    "\(restarts.inARow), and is started again at "
                        + next.text + (hasDetails ? ": \(restarts.cause)" : "")
                )
            }
            return
                (slot.recordProblem ?? slot.answerProblem(hasDetails: hasDetails)
                ?? slot.source.problem.map { "reports a problem: \($0)" })
                .map { (slot.name, $0) }
        }
    }

    private func details(_ absence: HostError) -> String {
        hasDetails ? ": \(absence.sentence)" : ""
    }

    /// The parts that follow a section that is not there.
    private var lostParts: [(what: String, reason: String)] {
        container.parts.filter { !$0.follow.isEmpty }.compactMap { part in
            var sections = FollowedSections()
            sections.add(container.filters.knownSections, of: container.name)
            if let shown = part.container {
                sections.add(container.screens?.sections(ofPart: part), of: shown)
            }
            return sections.obstacle(to: part, in: container.name)
                .map { ("component \(part.name)", $0) }
        }
    }

    /// The parts whose container does not exist.
    private var missingParts: [(what: String, reason: String)] {
        container.parts.filter { container.screens?.title(ofPart: $0) == nil }.map {
            ("component \($0.name)", "is not shown: \($0.absence)")
        }
    }
}

extension ContainerStatus {
    /// The status; with `hasDetails` it says how components failed.
    init(of container: Container, hasDetails: Bool) {
        let problems = ContainerProblems(container: container, hasDetails: hasDetails).summary
        self.init(
            definition: container.definition,
            state: container.loading.isUnderWay ? .loading : problems == nil ? .ready : .degraded,
            reason: problems, items: container.itemCount,
            components: container.definition.components.compactMap { component in
                guard !component.isPart else {
                    let title = container.screens?.title(ofPart: component)
                    return ComponentStatus(part: component, title: title)
                }
                return container.slot(component.name)?
                    .status(in: container.definition, hasDetails: hasDetails)
            })
    }
}

extension ComponentStatus {
    /// The status of a part; without a title its container does not exist.
    fileprivate init(part: ComponentDefinition, title: String?) {
        self.init(
            definition: part, title: title ?? part.title ?? part.name, isolation: .daemon,
            state: title == nil ? .failed : .attached,
            reason: title == nil ? part.absence : nil, isDamaged: false)
    }
}

extension Slot {
    /// The problem with its records, and what to do; nil if there is none.
    var recordProblem: String? {
        damage.problem
            ?? own.contents?.unfit.problem(in: list, FieldChecker(fields: fields))
            ?? own.contents?.leftOut.problem
    }

    /// The problem with what it takes and answers, as the continuation of "It"; nil: there is none.
    func answerProblem(hasDetails: Bool) -> String? {
        failures.problem(hasDetails: hasDetails)
            ?? own.filters?.losses.problem(hasDetails: hasDetails) ?? own.filters?.leftOut
    }

    /// ``answerProblem(hasDetails:)`` as a sentence.
    private func answerSentence(hasDetails: Bool) -> String? {
        answerProblem(hasDetails: hasDetails).map { "It \($0)" + ($0.hasSuffix(".") ? "" : ".") }
    }

    /// Its restarts, and the calls that are refused because of them; nil if there were none.
    var restarts: ComponentRestarts? {
        guard var restarts = failures.restarts else { return nil }
        restarts.refuses = requests.blamedCalls(in: domain)
        return restarts
    }

    func status(in container: ContainerDefinition, hasDetails: Bool) -> ComponentStatus {
        let (state, reason): (ComponentStatus.State, String?) =
            switch self.state {
            case .starting, .prepared:
                (.starting, start.watch.stall.map { _ in absence.sentence(hasDetails: hasDetails) })
            case .attached:
                (
                    own.awaitsItems ? .loading : .attached,
                    recordProblem.map { "It \($0)." } ?? answerSentence(hasDetails: hasDetails)
                        ?? source.problem
                )
            case .failed: (.failed, absence.sentence(hasDetails: hasDetails))
            case .closed: (.failed, "It was detached.")
            }
        return ComponentStatus(
            definition: definition, kind: kind,
            title: title, isolation: isolation, state: state,
            reason: reason, items: list?.count, isDamaged: damage.problem != nil,
            facts: facts(in: container), restarts: hasDetails ? restarts : restarts?.plain)
    }
}

extension ComponentDefinition {
    /// Why a part is not shown whose container does not exist.
    var absence: String { "There is no container '\(container ?? "")'." }
}
