import NIOCore

/// Prepares what a screen and its parts show together, for choices on one of them.
///
/// A part that can't be shown does not keep the others from being shown. A late part is waited for at most one second,
/// and is shown when it is ready.
final class ScreenTurn {
    /// How long to wait for the parts.
    private static let patience = TimeAmount.seconds(1)

    private let root: Screen
    private let domain: Domain
    private let done: ([PreparedView]) -> Void
    private var prepared: [PreparedView] = []
    private var waiting: [ObjectIdentifier: (screen: Screen, choices: Screen.Choices)] = [:]
    private var failed: [(screen: Screen, choices: Screen.Choices, problem: String)] = []
    /// The parts that are not being prepared yet.
    private var rest: [(part: Screen, choices: Screen.Choices, home: ContainerScreens)] = []
    private var isAsking = false
    private var isTimed = false
    private var isOver = false
    /// Defers the messages of delegates until all is shown.
    private var deferral: MessageDeferral?

    /// Creates a turn of a screen and its parts; `done` shows what was prepared: each screen or part comes before its
    /// own parts.
    init(of root: Screen, in domain: Domain, _ done: @escaping ([PreparedView]) -> Void) {
        self.root = root
        self.domain = domain
        self.done = done
    }

    /// Starts with what was chosen.
    func begin(with shown: PreparedView) {
        deferral = root.deferMessages()
        add(shown)
        proceed()
    }

    /// Starts with the parts of a screen that are not shown yet.
    func begin(withPartsOf screen: Screen) {
        deferral = root.deferMessages()
        screen.home?.parts.follow(screen, screen.choices, in: self)
        proceed()
    }

    private func add(_ shown: PreparedView) {
        prepared.append(shown)
        shown.home.parts.follow(shown.screen, shown.choices, in: self)
    }

    /// Adds a part that has to show something else.
    func add(_ part: Screen, _ choices: Screen.Choices, of home: ContainerScreens) {
        waiting[ObjectIdentifier(part)] = (part, choices)
        rest.append((part, choices, home))
    }

    private func ask(_ part: Screen, _ choices: Screen.Choices, of home: ContainerScreens) {
        let id = ObjectIdentifier(part)
        part.partState?.asked = choices
        home.parts.answer(choices, on: part) { [self] result in
            if part.partState?.asked?.view == choices.view { part.partState?.asked = nil }
            guard !isOver, waiting.removeValue(forKey: id) != nil else {
                return showLate(part, result)
            }
            switch result {
            case .success(let shown): add(shown)
            case .failure(let error): failed.append((part, choices, error.plainSentence))
            }
            proceed()
        }
    }

    private func proceed() {
        guard !isOver, !isAsking else { return }
        guard rest.isEmpty else { return askAll() }
        if waiting.isEmpty { return end() }
        guard !isTimed else { return }
        isTimed = true
        domain.timers.after(Self.patience) { [self] in if !isOver { end() } }
    }

    /// Other work runs between two of them, since each may read much.
    private func askAll() {
        isAsking = true
        domain.slices.run { [self] in
            guard !rest.isEmpty else { return false }
            let (part, choices, home) = rest.removeFirst()
            ask(part, choices, of: home)
            return !rest.isEmpty
        } then: { [self] in
            isAsking = false
            proceed()
        }
    }

    private func end() {
        isOver = true
        failed += waiting.values.map { ($0.screen, $0.choices, "It does not answer yet.") }
        waiting.removeAll()
        for (part, choices, problem) in failed {
            part.home?.parts.fail(part, with: choices, problem)
        }
        done(prepared)
        if let deferral { root.endDeferral(deferral) }
    }

    /// Shows a part that is ready after the others were shown.
    private func showLate(_ part: Screen, _ result: Result<PreparedView, HostError>) {
        switch result {
        case .failure(let error):
            guard !part.isEnded, part.view == nil else { return }
            part.partState?.problem = error.plainSentence
            part.touched()
        case .success(let shown):
            guard !part.isEnded, part.view == nil, let parent = part.partState?.parent,
                let around = parent.home
            else { return shown.discard() }
            // The part may have to show something else by then.
            around.parts.show(on: parent) { shown.discard() }
        }
    }
}
