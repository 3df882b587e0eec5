import AtriumKit
import NIOCore

/// Where a part is in its screen, and how it does.
final class PartPlace {
    /// The whole screen.
    weak private(set) var root: Screen?
    /// What it is directly a part of.
    weak private(set) var parent: Screen?
    /// The name of its component in the parent's container.
    let name: String
    /// That, after the names of those that the parent is a part of.
    let path: String
    /// The container that it shows.
    let container: String
    /// How many screens lie around it.
    let level: Int
    /// The selections that it follows, as it last did.
    var follow: [String: String]
    /// Whether anything was chosen on it, if only by its opening.
    var isOpen = false
    /// Whether what was chosen comes from another process: no delegate is asked about it again.
    var isRestored = false
    /// Why it can't be shown; nil: it can.
    var problem: String?
    /// What it is to show, while that is being found.
    var asked: Screen.Choices?
    /// The parent's selection when the part was last shown: what differs from it is followed.
    var followed: Selection?
    /// The parent's selection that the part's next choices were made for; ``followed`` once these are shown.
    var following: Selection?
    /// Since when a component owes it an answer; nil: none does.
    var unsettled: NIODeadline?

    /// How long the screen around it waits for such an answer, and goes on without then.
    static let patience = TimeAmount.seconds(1)

    var isLate: Bool { unsettled.map { NIODeadline.now() >= $0 + Self.patience } ?? false }

    init(of part: ComponentDefinition, in parent: Screen) {
        root = parent.root
        self.parent = parent
        name = part.name
        path = parent.place.map { "\($0.path)/\(part.name)" } ?? part.name
        container = part.container ?? ""
        level = (parent.place?.level ?? 0) + 1
        follow = part.follow
    }
}

/// What a revision showed of a part.
struct PartSight {
    /// Which one: another that has its path is new.
    let screen: ObjectIdentifier
    let path: String
    let container: String
    /// Nil: why it can't be shown.
    let sight: Screen.Sight?
    let problem: String?

    /// What leads from some to others, in their order; those that are gone first.
    static func steps(from old: [PartSight], to new: [PartSight]) -> [ScreenPart] {
        guard !old.isEmpty || !new.isEmpty else { return [] }
        let before = Dictionary(old.map { ($0.path, $0) }) { first, _ in first }
        let paths = Set(new.map(\.path))
        return old.filter { !paths.contains($0.path) }.map {
            ScreenPart(path: $0.path, container: $0.container, isGone: true)
        } + new.compactMap { $0.step(from: before[$0.path]) }
    }

    private func step(from other: PartSight?) -> ScreenPart? {
        let old = other?.screen == screen ? other : nil
        guard let sight else {
            guard old == nil || old?.problem != problem else { return nil }
            return ScreenPart(path: path, container: container, problem: problem)
        }
        if let before = old?.sight, before.moment === sight.moment { return nil }
        let step = sight.moment.step(from: old?.sight?.moment)
        if old?.sight != nil, step.isEmpty { return nil }
        return ScreenPart(
            path: path, container: container, isNew: old?.sight == nil, step: step)
    }

    func hold(in account: ScreenAccount) {
        guard let sight else { return }
        account.hold(sight.moment.view)
        account.hold(sight.moment.focus)
    }

    func release(in account: ScreenAccount) {
        guard let sight else { return }
        account.release(sight.moment.view)
        account.release(sight.moment.focus)
    }
}

extension Screen.Frame {
    /// How many commits of the containers lie between both, each container's once.
    func commits(since base: Screen.Frame) -> Int {
        var count = sight.commits - base.sight.commits
        var counted: Set<String> = []
        for part in parts {
            guard let now = part.sight,
                let before = base.parts.first(where: { $0.screen == part.screen })?.sight,
                counted.insert(part.container).inserted
            else { continue }
            count += now.commits - before.commits
        }
        return count
    }
}

// Containers within the container of a screen.
extension Screen {
    /// Does something for each part, and for theirs.
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
            found = found?.parts.first { $0.place?.name ?? "" == name }
        }
        return found
    }

    /// Whether all that is asked for by the parts that are shown is known, but for those that are late.
    func areSettled(since base: [PartSight]) -> Bool {
        var isSettled = true
        for part in parts where isShown(part) {
            guard let place = part.place, let view = part.view, let focus = part.focus else {
                continue
            }
            let before = base.first { $0.screen == ObjectIdentifier(part) }?.sight
            if part.isSettled(view, focus, since: before) {
                place.unsettled = nil
            } else if place.unsettled == nil {
                place.unsettled = .now()
                home?.domain.after(PartPlace.patience) { [weak part] in part?.touched() }
                isSettled = false
            } else if !place.isLate {
                isSettled = false
            }
            if !part.areSettled(since: base) { isSettled = false }
        }
        return isSettled
    }

    /// What is seen of the parts that are shown, each before its own; of one that is late what was.
    func sights(since base: [PartSight]) -> [PartSight] {
        parts.flatMap { part -> [PartSight] in
            guard let place = part.place, isShown(part) else { return [] }
            let id = ObjectIdentifier(part)
            guard let home = part.home, let view = part.view, let focus = part.focus else {
                return place.problem.map {
                    [
                        PartSight(
                            screen: id, path: place.path, container: place.container, sight: nil,
                            problem: $0)
                    ]
                } ?? []
            }
            let inner = part.sights(since: base)
            if place.isLate { return base.filter { $0.screen == id } + inner }
            if entry(of: part)?.hidesEmpty == true, inner.isEmpty, !part.isWorkedOn,
                view.state.hasNothing
            {
                return []
            }
            let sight = part.sight(part.moment(view, focus, home), home)
            return [
                PartSight(
                    screen: id, path: place.path, container: place.container, sight: sight,
                    problem: nil)
            ] + inner
        }
    }

    /// Whether a user searches, entered an item or hid a component on this part: it stays, so that this can be undone.
    private var isWorkedOn: Bool {
        !choices.view.search.isEmpty || !choices.view.places.isEmpty || !choices.view.hidden.isEmpty
    }

    /// What the container says of a part; nil: it has none there any more.
    private func entry(of part: Screen) -> ComponentDefinition? {
        home?.container.parts.first {
            $0.name == part.place?.name && $0.container == part.place?.container
        }
    }

    /// Whether somebody sees it: a part is not seen where it is hidden, or what it lies in is.
    var isLookedAt: Bool {
        guard let place else { return true }
        guard let parent = place.parent, let entry = parent.entry(of: self) else { return false }
        return !entry.isHidden && !parent.choices.view.hidden.contains(place.name)
            && parent.isLookedAt
    }

    /// Whether a part is among what the screen shows now.
    private func isShown(_ part: Screen) -> Bool {
        guard let place = part.place else { return false }
        return view?.state.components.contains {
            $0.name == place.name && $0.container == place.container && !$0.isHidden
        } ?? false
    }
}

extension ViewState {
    /// Whether it shows lists, and none of them has anything.
    fileprivate var hasNothing: Bool {
        let sources = components.filter { $0.kind == .contents }
        // What does not answer may have something.
        return !sources.isEmpty && sources.allSatisfy { $0.problem == nil }
            && lists.allSatisfy { $0.total == 0 && $0.state == .ready }
    }
}
