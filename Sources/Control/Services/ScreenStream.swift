import AtriumKit
import Host
import Interfaces
import JSONCodec
import Varlink

/// Sends a screen's revisions to the call that opened it, no faster than the peer reads.
///
/// While the peer's socket is full nothing is pulled, and all changes meanwhile become one revision.
///
/// Unchecked Sendable: its state is used only on the event loop.
final class ScreenStream: @unchecked Sendable {
    private let call: VarlinkCall<Screens.Open.Reply>
    private let registry: Registry
    /// The screen as another process handed it over; nil: it is a new one.
    private let kept: KeptScreen?
    /// Why its user may no longer have the screen; nil: the user may.
    private let obstacle: () -> ActorRefusal?
    private var reader: ScreenReader?
    /// Whether a revision is being sent, or the socket is full; whichever ends will continue the stream.
    private var isBusy = false
    /// Whether the screen had something new meanwhile.
    private var isWoken = false
    private var isClosed = false

    /// Creates a stream for a screen that is not open yet, or that another process handed over; `obstacle` returns
    /// why its user may no longer have the screen.
    init(
        call: VarlinkCall<Screens.Open.Reply>, registry: Registry, from kept: KeptScreen?,
        obstacle: @escaping () -> ActorRefusal?
    ) {
        self.call = call
        self.registry = registry
        self.kept = kept
        self.obstacle = obstacle
        call.onHandOver { self.keptScreen?.object }
    }

    /// The state for a handover; nil while nothing has been sent.
    private var keptScreen: KeptScreen? {
        guard let reader else { return kept }
        return registry.screens.keptScreen(of: reader)
    }

    /// Starts once the screen is open.
    func start(_ reader: ScreenReader) {
        self.reader = reader
        call.onClose { self.close() }
        call.onReview { self.review() }
        // The user may have lost the role while the screen was being opened.
        review()
        advance()
    }

    private func review() {
        guard !isClosed, let reader, let refusal = obstacle() else { return }
        isClosed = true
        call.fail(refusal.reply)
        registry.screens.end(reader)
    }

    /// Sends the changes of the screen; called when it has some.
    func advance() {
        isWoken = true
        guard !isBusy else { return }
        isBusy = true
        send()
    }

    private func send() {
        while isWoken, !isClosed, let reader {
            guard call.isWritable else { return call.onWritable { self.send() } }
            isWoken = false
            switch registry.screens.pull(reader) {
            case .success(let revision?):
                call.replyRaw(endingWith: ScreenFrame.tail(of: revision)) {
                    ScreenFrame.writeHead(of: revision, to: &$0)
                }
                ClientMeters.countRevision()
            case .success(nil): break
            case .failure(let error):
                call.fail(error.reply(of: Screens.self))
                close()
            }
        }
        isBusy = false
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        if let reader { registry.screens.leave(reader) }
    }
}

/// Encodes a revision as a reply of `Open`, in two parts.
///
/// The head is the revision's own. The tail is the same for all screens that take the same step, and is encoded once
/// for them.
enum ScreenFrame {
    /// Writes the head: the beginning of the frame, up to the comma that ends it.
    static func writeHead(of revision: ScreenRevision, to json: inout JSONWriter) {
        json.beginObject()
        json.key("parameters")
        json.beginObject()
        json.key("screen")
        json.string(revision.screen.text)
        if let base = revision.base {
            json.key("base")
            json.int(base)
        }
        json.key("revision")
        json.int(revision.revision)
        json.key("sequence")
        json.int(Int(revision.sequence))
        json.key("commits")
        json.int(revision.commits)
        if let reset = revision.reset {
            json.key("reset")
            json.string(reset)
        }
        if let message = revision.message {
            json.key("message")
            json.string(message)
        }
        if let target = revision.navigation {
            json.key("lead")
            Screens.Open.Reply.Lead(container: target.container, item: target.item).write(to: &json)
        }
    }

    /// The tail: the rest of the frame, with its NUL.
    static func tail(of revision: ScreenRevision) -> [UInt8] {
        let step = revision.step
        guard !revision.parts.isEmpty else { return step.encoded { tail { write(step, to: &$0) } } }
        return tail { json in
            write(step, to: &json)
            json.key("parts")
            json.beginArray()
            for part in revision.parts { write(part, to: &json) }
            json.endArray()
        }
    }

    private static func write(_ part: ScreenPart, to json: inout JSONWriter) {
        json.beginObject()
        json.key("part")
        json.string(part.path)
        json.key("container")
        json.string(part.container)
        if part.isNew {
            json.key("new")
            json.bool(true)
        }
        if part.isGone {
            json.key("gone")
            json.bool(true)
        }
        if let problem = part.problem {
            json.key("problem")
            json.string(problem)
        }
        if let step = part.step { write(step, to: &json) }
        json.endObject()
    }

    /// Writes the part that is the same for all screens that take a step, as members of an object.
    private static func write(_ step: ScreenStep, to json: inout JSONWriter) {
        let view = step.view.encoded { ChangeBytes(step.view) }
        let focus = step.focus.encoded { ChangeBytes(step.focus) }
        let lists = step.own.map { elements($0.map(Lists.init)) } ?? view.lists
        json.reserve(512 + view.members.count + lists.count + focus.lists.count)
        if !view.members.isEmpty { json.raw(view.members) }
        if !focus.members.isEmpty { json.raw(focus.members) }
        if !lists.isEmpty || !focus.lists.isEmpty {
            json.key("lists")
            json.beginArray()
            if !lists.isEmpty { json.raw(lists) }
            if !focus.lists.isEmpty { json.raw(focus.lists) }
            json.endArray()
        }
        if let tally = step.tally {
            json.key("tally")
            Interfaces.VoteTally(tally).write(to: &json)
        }
        if let held = step.held {
            json.key("held")
            json.beginArray()
            for comment in held { Interfaces.Comment(comment).write(to: &json) }
            json.endArray()
        }
    }

    /// Completes the frame whose head was written, with these additional members.
    private static func tail(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        members(&json)
        json.endObject()
        let isEmpty = json.count == 2
        json.key("continues")
        json.bool(true)
        json.endObject()
        json.endMessage()
        var tail = json.bytes
        // The members continue the head's object, so a comma is needed unless there are none.
        if isEmpty { tail.removeFirst() } else { tail[0] = UInt8(ascii: ",") }
        return tail
    }

    fileprivate typealias Lists = Screens.Open.Reply.Lists

    /// Encodes values as elements of an array, without its brackets.
    fileprivate static func elements(_ values: [some JSONWritable]) -> [UInt8] {
        var json = JSONWriter()
        json.beginArray()
        for value in values { value.write(to: &json) }
        json.endArray()
        return json.withUnsafeBytes { [UInt8]($0.dropFirst().dropLast()) }
    }
}

extension ChangeBytes {
    fileprivate init(_ change: ViewChange) {
        var json = JSONWriter()
        json.beginObject()
        if let outline = change.outline { Self.write(outline, to: &json) }
        if let scope = change.scope {
            json.key("scope")
            json.string(scope)
        }
        if let path = change.path {
            json.key("path")
            json.beginArray()
            for item in path { json.string(item) }
            json.endArray()
        }
        if let components = change.components {
            json.key("components")
            json.beginArray()
            for component in components {
                Screens.Open.Reply.Components(component).write(to: &json)
            }
            json.endArray()
        }
        if let sections = change.sections {
            json.key("sections")
            json.beginArray()
            for section in sections { Interfaces.Section(section).write(to: &json) }
            json.endArray()
        }
        if !change.counts.isEmpty {
            json.key("counts")
            json.beginArray()
            for counts in change.counts { Screens.Open.Reply.Counts(counts).write(to: &json) }
            json.endArray()
        }
        json.endObject()
        self.init(
            members: json.withUnsafeBytes { [UInt8]($0.dropFirst().dropLast()) },
            lists: ScreenFrame.elements(change.lists.map(ScreenFrame.Lists.init)))
    }

    /// Writes the container's outline, as members of an object.
    private static func write(_ outline: ContainerOutline, to json: inout JSONWriter) {
        json.key("title")
        json.string(outline.title)
        json.key("fields")
        json.beginArray()
        for field in outline.fields { Interfaces.Field(field).write(to: &json) }
        json.endArray()
        guard !outline.scopes.isEmpty else { return }
        json.key("scopes")
        json.beginArray()
        for (name, title) in outline.scopes {
            Screens.Open.Reply.Scopes(name: name, title: title).write(to: &json)
        }
        json.endArray()
    }

    fileprivate init(_ change: FocusChange) {
        var json = JSONWriter()
        json.beginObject()
        if let item = change.item {
            json.key("focus")
            json.string(item)
        }
        if let details = change.details {
            json.key("details")
            json.raw(details)
        }
        json.endObject()
        self.init(
            members: json.withUnsafeBytes { [UInt8]($0.dropFirst().dropLast()) },
            lists: ScreenFrame.elements(
                (change.comments.map { [$0] } ?? []).map(ScreenFrame.Lists.init)))
    }
}

extension Screens.Open.Reply.Components {
    fileprivate init(_ component: ScreenComponent) {
        self.init(
            name: component.name,
            kind: component.kind?.rawValue ?? (component.container == nil ? "" : "container"),
            container: component.container, title: component.title,
            hidden: component.isHidden, problem: component.problem,
            votes: component.facts.flatMap(Interfaces.VoteFacts.init),
            comments: component.facts.flatMap(Interfaces.CommentFacts.init),
            present: component.present.map(Interfaces.Present.init),
            sort: component.sort.isEmpty ? nil : component.sort, empty: component.empty)
    }
}

extension Screens.Open.Reply.Counts {
    fileprivate init(_ change: CountChange) {
        self.init(
            section: change.section,
            filters: change.filters.map {
                Interfaces.FilterCount(at: $0.at, count: $0.count, selected: $0.selected)
            })
    }
}

extension Screens.Open.Reply.Lists {
    fileprivate init(_ change: ListChange<ItemView>) {
        self.init(
            component: change.component, total: change.total,
            edits: change.edits.map { edit in
                Interfaces.Edit(edit) { $0.item = Interfaces.Item($1) }
            }, more: change.hasMore ? true : nil, state: change.state.onWire,
            problem: change.state.problem)
    }

    fileprivate init(_ change: ListChange<CommentView>) {
        self.init(
            component: change.component, total: change.total,
            edits: change.edits.map { edit in
                Interfaces.Edit(edit) { $0.comment = Interfaces.Comment($1) }
            })
    }
}

extension ListState {
    fileprivate var onWire: Screens.Open.Reply.Lists.State? {
        switch self {
        case .ready: nil
        case .loading: .loading
        case .asking: .asking
        case .stale: .stale
        }
    }

    fileprivate var problem: String? {
        if case .stale(let problem) = self { problem } else { nil }
    }
}

extension Interfaces.Edit {
    fileprivate init<Entry>(
        _ edit: ListEdit<Entry>, _ fill: (inout Interfaces.Edit, Entry) -> Void
    ) {
        switch edit {
        case .insert(let entry, let place):
            self.init(op: .insert, at: place)
            fill(&self, entry)
        case .remove(let place): self.init(op: .remove, at: place)
        case .move(let place, let goal): self.init(op: .move, at: place, to: goal)
        case .update(let entry, let place):
            self.init(op: .update, at: place)
            fill(&self, entry)
        }
    }
}
