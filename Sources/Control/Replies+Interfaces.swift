import AtriumKit
import Host
import Interfaces
import JSONCodec
import PluginLoader

// Converts the host's results to the protocol's types.

extension Interfaces.VoteTally {
    init(_ view: TallyView) { self.init(view.tally, mine: view.mine) }

    init(_ tally: AtriumKit.Tally, mine: Double? = nil) {
        self.init(
            count: tally.count, score: tally.score,
            histogram: JSONCounts(checkedMembers: tally.histogramMembers), mine: mine)
    }
}

extension Interfaces.Item {
    init(_ view: ItemView) {
        self.init(
            id: view.id, parent: view.parent, fields: JSONObject(checked: view.fields),
            votes: view.votes.map(Interfaces.VoteTally.init), comments: view.comments,
            children: view.children)
    }
}

extension Interfaces.Section {
    init(_ view: SectionView) {
        self.init(
            id: view.id, title: view.title, input: Input(view.input),
            filters: view.filters.map {
                .init(id: $0.id, title: $0.title, count: $0.count, selected: $0.selected)
            }, more: view.more ? true : nil, rest: view.rest)
    }
}

extension Interfaces.Section.Input {
    fileprivate init(_ input: SectionInput) {
        self =
            switch input {
            case .single: .single
            case .several: .several
            case .range: .range
            case .text: .text
            @unknown default: .several
            }
    }
}

extension Interfaces.Comment {
    init(_ view: CommentView) {
        let comment = view.entry.comment
        let state: State =
            switch comment.state {
            case .shown: .shown
            case .pending: .pending
            case .removed: .removed
            @unknown default: .pending
            }
        self.init(
            id: comment.id, parent: comment.parent, depth: view.entry.depth, author: view.author,
            text: comment.text, state: state, created: comment.created.text,
            edited: comment.edited?.text, replies: view.entry.replies, more: view.entry.more,
            reason: comment.reason)
    }
}

extension Interfaces.Container {
    init(_ status: ContainerStatus) {
        let state: State =
            switch status.state {
            case .loading: .loading
            case .ready: .ready
            case .degraded: .degraded
            case .failed: .failed
            }
        self.init(
            name: status.definition.name, title: status.definition.title ?? status.definition.name,
            state: state, reason: status.reason, items: status.items,
            components: status.components.map(Interfaces.Component.init),
            contents: status.definition.lists?.contents,
            entered: status.definition.lists?.entered.nonEmpty,
            searched: status.definition.lists?.searched.nonEmpty,
            scopes: status.definition.scopes.isEmpty
                ? nil : status.definition.scopes.map(Interfaces.Scope.init),
            delegate: status.definition.delegate?.plugin,
            present: status.definition.present.map(Interfaces.Present.init))
    }
}

extension Interfaces.Scope {
    fileprivate init(_ scope: ScopeDefinition) {
        self.init(
            name: scope.name, title: scope.title ?? scope.name, contents: scope.lists.contents,
            entered: scope.lists.entered.nonEmpty, searched: scope.lists.searched.nonEmpty,
            activate: scope.activate, delegate: scope.delegate?.plugin)
    }
}

extension [String] {
    /// The array; nil if it is empty.
    fileprivate var nonEmpty: [String]? { isEmpty ? nil : self }
}

extension Interfaces.Component {
    fileprivate init(_ status: ComponentStatus) {
        let state: State =
            switch status.state {
            case .starting: .starting
            case .loading: .loading
            case .attached: .attached
            case .failed: .failed
            }
        self.init(
            name: status.definition.name,
            kind: status.definition.isPart ? "container" : status.kind?.rawValue ?? "",
            plugin: status.definition.plugin, title: status.title,
            hidden: status.definition.isHidden,
            isolation: status.isolation == .daemon ? .daemon : .process, state: state,
            reason: status.reason, items: status.items,
            damaged: status.isDamaged ? true : nil,
            votes: status.facts.flatMap(Interfaces.VoteFacts.init),
            comments: status.facts.flatMap(Interfaces.CommentFacts.init),
            present: status.definition.present.map(Interfaces.Present.init),
            sort: status.definition.sort.isEmpty ? nil : status.definition.sort,
            hidesEmpty: status.definition.hidesEmpty ? true : nil, empty: status.definition.empty,
            container: status.definition.container,
            follow: status.definition.follow.isEmpty ? nil : status.definition.follow,
            restarts: status.restarts.map(Interfaces.Restarts.init))
    }
}

extension Interfaces.Restarts {
    init(_ restarts: ComponentRestarts) {
        self.init(
            count: restarts.count, failures: restarts.failures, cause: restarts.cause,
            next: restarts.next?.text, refuses: restarts.refuses)
    }
}

extension Interfaces.VoteFacts {
    /// Converts the facts of votes; nil if the facts are of another kind.
    init?(_ facts: ComponentFacts) {
        guard case .votes(let facts) = facts else { return nil }
        var subjects: [Subjects] = []
        if facts.subjects.contains(.items) { subjects.append(.items) }
        if facts.subjects.contains(.container) { subjects.append(.container) }
        self.init(
            min: facts.min, max: facts.max, step: facts.step, subjects: subjects,
            closed: facts.isClosed ? true : nil)
    }
}

extension Interfaces.CommentFacts {
    /// Converts the facts of comments; nil if the facts are of another kind.
    init?(_ facts: ComponentFacts) {
        guard case .comments(let facts) = facts else { return nil }
        var subjects: [Subjects] = []
        if facts.subjects.contains(.items) { subjects.append(.items) }
        if facts.subjects.contains(.container) { subjects.append(.container) }
        self.init(
            maxLength: facts.maxLength, moderated: facts.moderated, subjects: subjects,
            closed: facts.isClosed ? true : nil)
    }
}

extension Interfaces.Field {
    init(_ field: AtriumKit.Field) {
        self.init(
            name: field.name, type: field.type.rawValue, required: field.required,
            search: field.search, min: field.min, max: field.max, title: field.title,
            unit: field.unit, description: field.summary, of: field.derivation?.of,
            by: (field.derivation?.by.rawValue), zone: field.derivation?.zone ?? field.zone,
            details: field.details ? true : nil)
    }
}

extension Interfaces.Present {
    init(_ present: Host.Presentation) {
        self.init(
            title: present.title, subtitle: present.subtitle, image: present.image,
            columns: present.columns)
    }
}

extension Interfaces.Presentation {
    init(_ presentation: ListPresentation) {
        self.init(
            title: presentation.title, fields: presentation.fields.map(Interfaces.Field.init),
            present: presentation.present.map(Interfaces.Present.init),
            sort: presentation.sort.isEmpty ? nil : presentation.sort, empty: presentation.empty,
            votes: presentation.votes.flatMap(Interfaces.VoteFacts.init),
            comments: presentation.comments.flatMap(Interfaces.CommentFacts.init))
    }
}

extension Interfaces.Notification {
    init(_ view: NotificationView) {
        self.init(
            sequence: view.sequence.map(Int.init), time: view.time.text, topic: view.topic,
            actor: view.actor, payload: JSONObject(checked: view.payload))
    }
}
