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
