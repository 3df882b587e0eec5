import AtriumKit
import AtriumKitTesting
import Testing

/// Keeps the rules: it cuts a search short.
private final class Brief: ContainerDelegate {
    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        var next = next
        next.search = String(next.search.prefix(3))
        return next
    }
}

/// Refuses every other vote.
private final class Moody: ContainerDelegate {
    private var asked = 0

    override func votes(
        _ component: ComponentReference, shouldAccept ballot: Ballot
    ) -> Refusal? {
        asked += 1
        return asked.isMultiple(of: 2) ? Refusal("Not now.") : nil
    }
}

/// Adds a letter to whatever is searched.
private final class Restless: ContainerDelegate {
    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        var next = next
        next.search += "a"
        return next
    }
}

/// Lets what happened before decide.
private final class Grudge: ContainerDelegate {
    private var isOffended = false

    override func filters(_ component: ComponentReference, didClearOn screen: String) {
        isOffended = true
    }

    override func comments(
        _ component: ComponentReference, shouldAccept draft: CommentDraft, by author: ActorID
    ) -> Refusal? { isOffended ? Refusal("No more.") : nil }
}

/// Refuses votes once it was told of something.
private final class Told: ContainerDelegate {
    /// What it was told of by now, and what each of these classes minds.
    private var notices: Set<Notice> = []

    enum Notice: String, CaseIterable {
        case deselected, items, selected, posted, edited, removed, count
        case shown, chosen, partItems, partTally, partPosted, partEdited, partRemoved, partCount
    }

    private static let minded = Setting.choice(
        "minds", of: Notice.self, "which notice it minds")
    override class var settings: [Setting] { [minded.setting] }

    private let minds: Notice?

    required init(context: DelegateContext) throws {
        minds = context.settings[Self.minded]
        try super.init(context: context)
    }

    override func votes(
        _ component: ComponentReference, shouldAccept ballot: Ballot
    ) -> Refusal? {
        minds.map { notices.contains($0) } ?? false ? Refusal("It has been told.") : nil
    }

    override func filters(
        _ component: ComponentReference, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) { notices.insert(.deselected) }
    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        notices.insert(.items)
    }
    override func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) { notices.insert(.selected) }
    override func comments(_ component: ComponentReference, didPost comment: AtriumKit.Comment) {
        notices.insert(.posted)
    }
    override func comments(_ component: ComponentReference, didEdit comment: AtriumKit.Comment) {
        notices.insert(.edited)
    }
    override func comments(_ component: ComponentReference, didRemove comment: AtriumKit.Comment) {
        notices.insert(.removed)
    }
    override func comments(
        _ component: ComponentReference, didChange count: Int, of subject: Subject
    ) { notices.insert(.count) }
    override func screen(
        _ screen: ScreenReference, part path: String, didShow choices: ScreenChoices
    ) { notices.insert(.shown) }
    override func screen(_ screen: ScreenReference, part path: String, didSelect item: String) {
        notices.insert(.chosen)
    }
    override func part(
        _ part: PartReference, contents component: ComponentReference,
        didChange change: ContentChange
    ) { notices.insert(.partItems) }
    override func part(
        _ part: PartReference, votes component: ComponentReference, didChange tally: Tally,
        of subject: Subject
    ) { notices.insert(.partTally) }
    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didPost comment: AtriumKit.Comment
    ) { notices.insert(.partPosted) }
    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didEdit comment: AtriumKit.Comment
    ) { notices.insert(.partEdited) }
    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didRemove comment: AtriumKit.Comment
    ) { notices.insert(.partRemoved) }
    override func part(
        _ part: PartReference, comments component: ComponentReference, didChange count: Int,
        of subject: Subject
    ) { notices.insert(.partCount) }
}

/// Does something else with each search, though its answers are the same.
private final class Fickle: ContainerDelegate {
    private var asked = 0

    private static let does = Setting.text("does", "what").defaulting(to: "")
    override class var settings: [Setting] { [does.setting] }

    private let deed: String

    required init(context: DelegateContext) throws {
        deed = context.settings[Self.does]
        try super.init(context: context)
    }

    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        asked += 1
        let text = "\(asked)"
        switch deed {
        case "message": container?.message(text, on: screen.id)
        case "lead": container?.lead(screen.id, to: "films", item: text)
        case "change": container?.change(screen.id) { $0.search = text }
        case "the same":
            container?.message("Hello.", on: screen.id)
            container?.lead(screen.id, to: "films", item: shown?.focus)
            container?.change(screen.id) { $0.search += "x" }
        default: break
        }
        return next
    }
}

/// The suite of delegates: it passes what keeps the rules, and catches what breaks each.
@Suite struct DelegateSuiteTests {
    @Test(arguments: 1...5)
    func `what keeps the rules passes`(seed: Int) throws {
        try DelegateSuite.run(Brief.self, seed: UInt64(seed))
        try DelegateSuite.run(ContainerDelegate.self, seed: UInt64(seed))
    }

    @Test func `what answers the same question otherwise is caught`() {
        #expect(throws: DelegateFailure.self) { try DelegateSuite.run(Moody.self) }
    }

    @Test func `what is not content with its own answer is caught`() {
        #expect(throws: DelegateFailure.self) { try DelegateSuite.run(Restless.self) }
    }

    @Test func `what remembers is caught`() {
        #expect(throws: DelegateFailure.self) { try DelegateSuite.run(Grudge.self) }
    }

    @Test(arguments: Told.Notice.allCases)
    fileprivate func `what remembers any notice is caught`(_ notice: Told.Notice) {
        #expect(throws: DelegateFailure.self) {
            try DelegateSuite.run(Told.self, settings: ["minds": .text(notice.rawValue)])
        }
    }

    @Test(arguments: ["message", "lead", "change"])
    func `what does something else when it is asked again is caught`(_ deed: String) {
        #expect(throws: DelegateFailure.self) {
            try DelegateSuite.run(Fickle.self, settings: ["does": .text(deed)])
        }
    }

    @Test func `what sends a message, leads and changes by what it is asked passes`() throws {
        try DelegateSuite.run(Fickle.self, settings: ["does": "the same"])
        try DelegateSuite.run(Told.self)
    }

    @Test func `a test's host keeps what a delegate says and does`() throws {
        let host = try DelegateHost(Brief.self)
        #expect(host.show(ScreenChoices(search: "alien"), on: "s").search == "ali")
        #expect(host.screens["s"]?.search == "ali")
        host.delegate.container?.message("Hello.", on: "s")
        host.delegate.container?.lead("s", to: "books", item: nil)
        host.delegate.container?.publish("seen", ["a": 1])
        #expect(host.messages == ["s": "Hello."])
        #expect(host.leads["s"]?.container == "books")
        #expect(host.published.map(\.name) == ["seen"])
    }
}
