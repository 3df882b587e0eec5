import AtriumKit
import TestSupport
import Testing

@testable import Host

/// What a client shows: the revisions of a screen, applied one after the other.
struct ScreenCopy: Equatable {
    var screen = ScreenID("")
    var revision = 0
    var components: [ScreenComponent] = []
    var sections: [SectionView]?
    var lists: [String: [ItemView]] = [:]
    var comments: [CommentView] = []
    var totals: [String: Int] = [:]
    /// Of lists that are not ready.
    var states: [String: ListState] = [:]
    var more: Set<String> = []
    var tally: TallyView?
    /// The reader's own comments that others are not shown.
    var held: [CommentView] = []
    var path: [String] = []
    var scope = ""
    var focus = ""
    /// The containers within it, by their paths.
    var parts: [String: ScreenCopy] = [:]
    /// Why others are not shown.
    var problems: [String: String] = [:]

    /// A revision did not lead on from what is here.
    struct OutOfStep: Error, CustomStringConvertible {
        var description: String
    }

    /// Takes a revision in.
    mutating func apply(_ new: ScreenRevision) throws {
        if new.base == nil {
            self = ScreenCopy()
        } else if new.base != revision || new.screen != screen {
            throw OutOfStep(description: "\(new.base ?? 0) is not \(revision)")
        }
        (screen, revision) = (new.screen, new.revision)
        try apply(new.step)
        for part in new.parts { try apply(part) }
    }

    private mutating func apply(_ part: ScreenPart) throws {
        problems[part.path] = part.problem
        if part.isGone || part.problem != nil { parts[part.path] = nil }
        guard let step = part.step else { return }
        if part.isNew { parts[part.path] = ScreenCopy() }
        guard var copy = parts[part.path] else {
            throw OutOfStep(description: "nothing is shown of \(part.path)")
        }
        try copy.apply(step)
        parts[part.path] = copy
    }

    private mutating func apply(_ step: ScreenStep) throws {
        if let components = step.view.components { show(components) }
        try show(step.view)
        path = step.view.path ?? path
        scope = step.view.scope ?? scope
        focus = step.focus.item ?? focus
        tally = step.tally ?? tally
        held = step.held ?? held
        for change in step.lists {
            totals[change.component] = change.total
            states[change.component] = change.state == .ready ? nil : change.state
            if change.hasMore {
                more.insert(change.component)
            } else {
                more.remove(change.component)
            }
            try Self.apply(change.edits, to: &lists[change.component, default: []])
        }
        if let change = step.focus.comments {
            totals[change.component] = change.total
            try Self.apply(change.edits, to: &comments)
        }
    }

    /// Beside components all sections, else those that offer something else; then what is counted otherwise.
    private mutating func show(_ change: ViewChange) throws {
        if change.components != nil {
            // None is what there is where no filters are shown.
            if let all = change.sections { sections = all.isEmpty ? nil : all }
        } else {
            for section in change.sections ?? [] {
                guard let place = sections?.firstIndex(where: { $0.id == section.id }) else {
                    throw OutOfStep(description: "there is no section \(section.id)")
                }
                sections?[place] = section
            }
        }
        for counts in change.counts {
            guard let place = sections?.firstIndex(where: { $0.id == counts.section }) else {
                throw OutOfStep(description: "there is no section \(counts.section)")
            }
            for filter in counts.filters {
                sections?[place].filters[filter.at].count = filter.count
                sections?[place].filters[filter.at].selected = filter.selected
            }
        }
    }

    /// What is hidden or gone is dropped.
    private mutating func show(_ components: [ScreenComponent]) {
        self.components = components
        let shown = components.filter { !$0.isHidden }
        let names = Set(shown.map(\.name))
        lists = lists.filter { names.contains($0.key) }
        totals = totals.filter { names.contains($0.key) }
        states = states.filter { names.contains($0.key) }
        more.formIntersection(names)
        if !shown.contains(where: { $0.kind == .filters }) { sections = nil }
        if !shown.contains(where: { $0.kind == .votes }) { tally = nil }
        if !shown.contains(where: { $0.kind == .comments }) { comments = [] }
    }

    private static func apply<Entry>(
        _ edits: [ListEdit<Entry>], to entries: inout [Entry]
    ) throws {
        for edit in edits {
            switch edit {
            case .insert(let entry, let place) where place <= entries.count:
                entries.insert(entry, at: place)
            case .remove(let place) where entries.indices.contains(place):
                entries.remove(at: place)
            case .move(let place, let goal)
            where entries.indices.contains(place) && entries.indices.contains(goal):
                entries.insert(entries.remove(at: place), at: goal)
            case .update(let entry, let place) where entries.indices.contains(place):
                entries[place] = entry
            default: throw OutOfStep(description: "\(edit) in \(entries.count) entries")
            }
        }
    }
}

/// Somebody who reads a screen, as a client does: pulls, applies, compares.
final class ScreenClient {
    let host: TestRegistry
    private(set) var reader: ScreenReader
    private(set) var copy = ScreenCopy()
    private(set) var resets: [String] = []

    init(
        _ host: TestRegistry, _ request: ScreenRequest = ScreenRequest(container: "films"),
        by caller: Caller = .ann, wake: @escaping @Sendable () -> Void = {}
    ) async throws {
        self.host = host
        reader = try await host.call { $0.openScreen(request, by: caller, wake: wake, $1) }
    }

    var id: ScreenID { reader.screen }

    /// The next revision, applied; nil: there is none.
    @discardableResult
    func pull() async throws -> ScreenRevision? {
        let reader = reader
        let revision = try await host.on { $0.screens.pull(reader) }.get()
        if let revision {
            try copy.apply(revision)
            if let reset = revision.reset { resets.append(reset) }
        }
        return revision
    }

    /// Pulls all there is.
    func catchUp() async throws { while try await pull() != nil {} }

    /// Pulls until something holds: what follows a change in slices may come after the change is answered.
    func catchUp(until holds: () -> Bool) async throws {
        try await until {
            try await catchUp()
            return holds()
        }
    }

    /// The connection is gone.
    func leave() async {
        let reader = reader
        await host.on { $0.screens.leave(reader) }
    }

    /// Opens again, to go on with what it has.
    func resume(
        _ request: ScreenRequest = ScreenRequest(container: "films"), revision: Int? = nil,
        by caller: Caller = .ann
    ) async throws {
        var request = request
        request.resume = .init(screen: id, revision: revision ?? copy.revision)
        let resuming = request
        reader = try await host.call { $0.openScreen(resuming, by: caller, wake: {}, $1) }
    }

    /// The ids that a list shows.
    func ids(_ list: String = "list") -> [String] { copy.lists[list]?.map(\.id) ?? [] }

    /// The ids that a list of a part shows; nil: the part is not shown.
    func ids(_ list: String = "list", in part: String) -> [String]? {
        copy.parts[part].map { $0.lists[list]?.map(\.id) ?? [] }
    }

    /// The id of a part, as calls of tests take it.
    func part(_ path: String) -> ScreenID { ScreenID("\(id.text)/\(path)") }
}
