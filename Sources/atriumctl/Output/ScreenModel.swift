import Interfaces
import JSONCodec

/// What a revision contains of a screen, or of a part of one.
protocol ScreenNews {
    var scope: String? { get }
    var title: String? { get }
    var fields: [Field]? { get }
    var scopes: [ShownScope]? { get }
    var path: [String]? { get }
    var focus: String? { get }
    var components: [ShownComponent]? { get }
    var sections: [Section]? { get }
    var counts: [ShownCounts]? { get }
    var lists: [ShownList]? { get }
    var tally: VoteTally? { get }
    var details: JSONObject? { get }
    var held: [Comment]? { get }
}

extension Screens.Open.Reply: ScreenNews {}
extension ShownPart: ScreenNews {}

/// What a screen shows: its snapshot, and the edits of its revisions applied to it.
struct ScreenModel {
    /// A container within the screen's.
    struct Part {
        /// The name of its component, after those of the parts that it lies in.
        var path: String
        var container: String
        /// Why it is not shown.
        var problem: String?
        var model = ScreenModel()
    }

    /// One list of the screen: items, or the comments on what it is focused on.
    struct List: Equatable {
        /// What a list holds.
        enum Entry: Equatable {
            case item(Item)
            case comment(Comment)
        }

        var component: String
        var total = 0
        /// Whether there are more than that, and nobody knows how many.
        var hasMore = false
        /// Why it is not what it should be.
        var state: Screens.Open.Reply.Lists.State?
        var problem: String?
        var entries: [Entry] = []

        var items: [Item] { entries.compactMap(\.item) }
        var comments: [Comment] { entries.compactMap(\.comment) }
    }

    private(set) var screen = ""
    private(set) var revision = 0
    /// The container's own: what it is called, the fields of its items, and its scopes.
    private(set) var title = ""
    private(set) var fields: [Field] = []
    private(set) var scopes: [Screens.Open.Reply.Scopes] = []
    private(set) var scope: String?
    /// The item that was entered, after those that it lies under, outermost first.
    private(set) var path: [String] = []
    /// The item that it is focused on; empty: the container.
    private(set) var focus = ""
    private(set) var components: [Screens.Open.Reply.Components] = []
    private(set) var sections: [Section] = []
    private(set) var lists: [List] = []
    private(set) var tally: VoteTally?
    /// The containers within it, in no order: that is the components'.
    private(set) var parts: [Part] = []
    /// What is known of the focused item beyond its listed fields.
    private(set) var details = JSONObject.empty
    /// The person's own comments on the focus that others are not shown.
    private(set) var held: [Comment] = []

    func list(_ component: String) -> List? { lists.first { $0.component == component } }

    /// What is selected, by section; nil where nothing is.
    var selection: [String: [String]]? {
        var selection: [String: [String]] = [:]
        for section in sections {
            let selected = section.filters.filter(\.selected).map(\.id)
            if !selected.isEmpty { selection[section.id] = selected }
        }
        return selection.isEmpty ? nil : selection
    }

    /// Applies a revision, and returns what it changed in the lists, in order, of a snapshot nothing, as all of it is
    /// new; throws for edits that do not lead on from what is here.
    @discardableResult
    mutating func apply(_ reply: Screens.Open.Reply) throws -> [ScreenChange] {
        let isSnapshot = reply.base == nil
        if isSnapshot {
            self = ScreenModel()
        } else if reply.base != revision || reply.screen != screen {
            throw CommandFailure(
                "the screen came out of step (revision \(revision), edits from "
                    + "\(reply.base ?? 0))", hint: "open it again.")
        }
        screen = reply.screen
        revision = reply.revision
        var changes = try apply(reply, isSnapshot: isSnapshot)
        for part in reply.parts ?? [] { changes += try apply(part) }
        return isSnapshot ? [] : changes
    }

    /// Applies what became of a part.
    private mutating func apply(_ news: ShownPart) throws -> [ScreenChange] {
        let isAnew = news.new == true || news.gone == true || news.problem != nil
        if isAnew { parts.removeAll { $0.path == news.part } }
        guard news.gone != true else { return [] }
        let place = parts.firstIndex { $0.path == news.part }
        var part = place.map { parts[$0] } ?? Part(path: news.part, container: news.container)
        part.problem = news.problem
        let changes = try part.model.apply(news, isSnapshot: isAnew)
        if let place { parts[place] = part } else { parts.append(part) }
        return isAnew
            ? []
            : changes.map { ScreenChange(part: news.part, component: $0.component, edit: $0.edit) }
    }

    private mutating func apply(
        _ reply: some ScreenNews, isSnapshot: Bool
    ) throws -> [ScreenChange] {
        if let title = reply.title {
            (self.title, fields, scopes) = (title, reply.fields ?? [], reply.scopes ?? [])
        }
        // Empty once the container has no scopes any more.
        scope = reply.scope.map { $0.isEmpty ? nil : $0 } ?? scope
        path = reply.path ?? path
        focus = reply.focus ?? focus
        if let components = reply.components { replaceComponents(components) }
        let isWhole = isSnapshot || reply.components != nil
        replaceSections(try changed(by: reply), areAll: isWhole && reply.sections != nil)
        tally = reply.tally ?? tally
        details = reply.details ?? details
        held = reply.held ?? held
        var changes: [ScreenChange] = []
        for list in reply.lists ?? [] {
            let edits = try apply(list)
            changes += edits.map { ScreenChange(component: list.component, edit: $0) }
        }
        let places = Dictionary(
            components.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        lists.sort { places[$0.component] ?? 0 < places[$1.component] ?? 0 }
        return changes
    }

    /// The sections that a revision changes, as it leaves them; throws for counts of filters that are not here.
    func changed(by reply: some ScreenNews) throws -> [Section] {
        var changed = reply.sections ?? []
        for counts in reply.counts ?? [] {
            guard var section = sections.first(where: { $0.id == counts.section }),
                counts.filters.allSatisfy({ section.filters.indices.contains($0.at) })
            else {
                throw CommandFailure(
                    "the screen came out of step (counts of \(counts.section))",
                    hint: "open it again.")
            }
            for filter in counts.filters {
                section.filters[filter.at].count = filter.count
                section.filters[filter.at].selected = filter.selected
            }
            changed.append(section)
        }
        return changed
    }

    private mutating func replaceSections(_ changed: [Section], areAll: Bool) {
        if areAll {
            sections = changed
            return
        }
        for section in changed {
            guard let place = sections.firstIndex(where: { $0.id == section.id }) else { continue }
            sections[place] = section
        }
    }

    /// What components showed that are gone or hidden now goes with them.
    private mutating func replaceComponents(_ components: [Screens.Open.Reply.Components]) {
        self.components = components
        let shown = components.filter { !$0.hidden }
        lists.removeAll { list in !shown.contains { $0.name == list.component } }
        if !shown.contains(where: { $0.kind == "filters" }) { sections = [] }
        if !shown.contains(where: { $0.kind == "votes" }) { tally = nil }
    }

    private mutating func apply(
        _ change: Screens.Open.Reply.Lists
    ) throws -> [ScreenChange.Edit] {
        let known = lists.firstIndex { $0.component == change.component }
        var list = known.map { lists[$0] } ?? List(component: change.component)
        (list.total, list.hasMore) = (change.total, change.more == true)
        (list.state, list.problem) = (change.state, change.problem)
        let edits = try change.edits.map { try list.apply($0) }
        if let known { lists[known] = list } else { lists.append(list) }
        return edits
    }
}

/// What one edit did to a list.
struct ScreenChange: Equatable {
    /// The edit, with what was there before it.
    enum Edit: Equatable {
        case inserted(ScreenModel.List.Entry, at: Int)
        case removed(ScreenModel.List.Entry)
        case moved(ScreenModel.List.Entry, from: Int, to: Int)
        case updated(ScreenModel.List.Entry, before: ScreenModel.List.Entry)
    }

    /// The part of the screen; empty: itself.
    var part = ""
    var component: String
    var edit: Edit
}

extension ScreenModel.List {
    /// Applies an edit, and returns what it did.
    fileprivate mutating func apply(_ edit: Edit) throws -> ScreenChange.Edit {
        let new = edit.item.map(Entry.item) ?? edit.comment.map(Entry.comment)
        let isInside = entries.indices.contains(edit.at)
        switch (edit.op, new, edit.to) {
        case (.insert, let new?, _) where isInside || edit.at == entries.count:
            entries.insert(new, at: edit.at)
            return .inserted(new, at: edit.at)
        case (.update, let new?, _) where isInside:
            let before = entries[edit.at]
            entries[edit.at] = new
            return .updated(new, before: before)
        case (.remove, _, _) where isInside:
            return .removed(entries.remove(at: edit.at))
        case (.move, _, let to?) where isInside && entries.indices.contains(to):
            let entry = entries.remove(at: edit.at)
            entries.insert(entry, at: to)
            return .moved(entry, from: edit.at, to: to)
        default:
            throw CommandFailure(
                "the screen came out of step (no place \(edit.at) in \(component), a list of "
                    + "\(entries.count))", hint: "open it again.")
        }
    }
}

extension ScreenModel.List.Entry {
    var item: Item? { if case .item(let item) = self { item } else { nil } }
    var comment: Comment? { if case .comment(let comment) = self { comment } else { nil } }

    var id: String {
        switch self {
        case .item(let item): item.id
        case .comment(let comment): comment.id
        }
    }
}
