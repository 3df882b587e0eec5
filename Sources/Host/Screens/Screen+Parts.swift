import AtriumKit
import NIOCore

/// A part's position in its screen, and its state there.
final class PartState {
    /// The screen that has the part, at the top.
    weak private(set) var root: Screen?
    /// The screen or part that directly contains the part.
    weak private(set) var parent: Screen?
    /// The name of its component in the parent's container.
    let name: String
    /// The component names from the root to the part, separated by `/`.
    let path: String
    /// The container that the part shows.
    let container: String
    /// The number of screens and parts around it.
    let level: Int
    /// The sections whose selection it follows, as of the last update.
    var follow: [String: String]
    /// Whether choices were made on it, at least the initial ones.
    var isOpen = false
    /// Whether its choices come from another process: they are not passed to a delegate again.
    var isRestored = false
    /// Why it can't be shown; nil: it can.
    var problem: String?
    /// The choices that it should show, while they are being prepared.
    var asked: Screen.Choices?
    /// The parent's selection when the part was last shown; differences from it are followed.
    var followed: Selection?
    /// The parent's selection for which the part's next choices were made; becomes ``followed`` when they are shown.
    var following: Selection?
    /// Since when it waits for a component's answer; nil: it does not.
    var unsettled: NIODeadline?

    /// How long its screen waits for such an answer before it is shown without.
    static let patience = TimeAmount.seconds(1)

    var isLate: Bool { unsettled.map { NIODeadline.now() >= $0 + Self.patience } ?? false }

    init(of part: ComponentDefinition, in parent: Screen) {
        root = parent.root
        self.parent = parent
        name = part.name
        path = parent.partState.map { "\($0.path)/\(part.name)" } ?? part.name
        container = part.container ?? ""
        level = (parent.partState?.level ?? 0) + 1
        follow = part.follow
    }
}

/// The content that a revision showed of a part.
struct ShownPart {
    /// The part; another part with the same path counts as new.
    let screen: ObjectIdentifier
    let path: String
    let container: String
    /// Nil: it can't be shown, for the reason in `problem`.
    let content: Screen.Content?
    let problem: String?

    /// The steps between two revisions' parts, in order, removed parts first.
    static func steps(from old: [ShownPart], to new: [ShownPart]) -> [ScreenPart] {
        guard !old.isEmpty || !new.isEmpty else { return [] }
        let before = Dictionary(old.map { ($0.path, $0) }) { first, _ in first }
        let paths = Set(new.map(\.path))
        return old.filter { !paths.contains($0.path) }.map {
            ScreenPart(path: $0.path, container: $0.container, isGone: true)
        } + new.compactMap { $0.step(from: before[$0.path]) }
    }

    private func step(from other: ShownPart?) -> ScreenPart? {
        let old = other?.screen == screen ? other : nil
        guard let content else {
            guard old == nil || old?.problem != problem else { return nil }
            return ScreenPart(path: path, container: container, problem: problem)
        }
        if let before = old?.content, before.snapshot === content.snapshot { return nil }
        let step = content.snapshot.step(from: old?.content?.snapshot)
        if old?.content != nil, step.isEmpty { return nil }
        return ScreenPart(
            path: path, container: container, isNew: old?.content == nil, step: step)
    }

    func retain(in account: ScreenAccount) {
        guard let content else { return }
        account.retain(content.snapshot.view)
        account.retain(content.snapshot.focus)
    }

    func release(in account: ScreenAccount) {
        guard let content else { return }
        account.release(content.snapshot.view)
        account.release(content.snapshot.focus)
    }
}

extension Screen.Frame {
    /// The number of commits between both revisions; those of each container count once.
    func commits(since base: Screen.Frame) -> Int {
        var count = content.commits - base.content.commits
        var counted: Set<String> = []
        for part in parts {
            guard let now = part.content,
                let before = base.parts.first(where: { $0.screen == part.screen })?.content,
                counted.insert(part.container).inserted
            else { continue }
            count += now.commits - before.commits
        }
        return count
    }
}

// Containers shown as parts of a screen.
extension Screen {
    /// Calls the body for each part, at all levels.
    func forEachPart(_ body: (Screen) -> Void) {
        for part in parts {
            body(part)
            part.forEachPart(body)
        }
    }

    /// The part at a path; nil: there is none.
    func part(_ path: String) -> Screen? {
        var found: Screen? = self
        for name in path.split(separator: "/", omittingEmptySubsequences: false) {
            found = found?.parts.first { $0.partState?.name ?? "" == name }
        }
        return found
    }

    /// Whether all answers for which shown parts wait have arrived, except those of late parts.
    func areSettled(since base: [ShownPart]) -> Bool {
        var isSettled = true
        for part in parts where isShown(part) {
            guard let state = part.partState, let view = part.view, let focus = part.focus else {
                continue
            }
            let before = base.first { $0.screen == ObjectIdentifier(part) }?.content
            if part.isSettled(view, focus, since: before) {
                state.unsettled = nil
            } else if state.unsettled == nil {
                state.unsettled = .now()
                home?.domain.timers.after(PartState.patience) { [weak part] in part?.touched() }
                isSettled = false
            } else if !state.isLate {
                isSettled = false
            }
            if !part.areSettled(since: base) { isSettled = false }
        }
        return isSettled
    }

    /// The content of shown parts, each before its own parts; for a late one, its content before.
    func shownParts(since base: [ShownPart]) -> [ShownPart] {
        parts.flatMap { part -> [ShownPart] in
            guard let state = part.partState, isShown(part) else { return [] }
            let id = ObjectIdentifier(part)
            guard let home = part.home, let view = part.view, let focus = part.focus else {
                return state.problem.map {
                    [
                        ShownPart(
                            screen: id, path: state.path, container: state.container, content: nil,
                            problem: $0)
                    ]
                } ?? []
            }
            let inner = part.shownParts(since: base)
            if state.isLate { return base.filter { $0.screen == id } + inner }
            if entry(of: part)?.hidesEmpty == true, inner.isEmpty, !part.isWorkedOn,
                view.state.hasNothing
            {
                return []
            }
            let content = part.content(part.snapshot(view, focus, home), home)
            return [
                ShownPart(
                    screen: id, path: state.path, container: state.container, content: content,
                    problem: nil)
            ] + inner
        }
    }

    /// Whether a user has searched, entered an item or hidden a component on this part: it then stays, so that the
    /// user can undo it.
    private var isWorkedOn: Bool {
        !choices.view.search.isEmpty || !choices.view.path.isEmpty || !choices.view.hidden.isEmpty
    }

    /// The definition of a part; nil: the container no longer has it.
    private func entry(of part: Screen) -> ComponentDefinition? {
        home?.container.parts.first {
            $0.name == part.partState?.name && $0.container == part.partState?.container
        }
    }

    /// Whether the part is visible: neither it nor a part around it is hidden.
    var isLookedAt: Bool {
        guard let partState else { return true }
        guard let parent = partState.parent, let entry = parent.entry(of: self) else {
            return false
        }
        return !entry.isHidden && !parent.choices.view.hidden.contains(partState.name)
            && parent.isLookedAt
    }

    /// Whether a part is shown now.
    private func isShown(_ part: Screen) -> Bool {
        guard let state = part.partState else { return false }
        return view?.state.components.contains {
            $0.name == state.name && $0.container == state.container && !$0.isHidden
        } ?? false
    }
}

extension ViewState {
    /// Whether it shows lists, and all of them are empty.
    fileprivate var hasNothing: Bool {
        let sources = components.filter { $0.kind == .contents }
        // A list whose component does not answer may have items.
        return !sources.isEmpty && sources.allSatisfy { $0.problem == nil }
            && lists.allSatisfy { $0.total == 0 && $0.state == .ready }
    }
}
