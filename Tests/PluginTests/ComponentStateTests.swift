import AtriumKit
import AtriumKitTesting
import Stars
import Testing

/// All items, tallies or counts of a component, which are told in pieces.
@Suite(.serialized) struct ComponentStateTests {
    private func harness(_ type: any Component.Type) throws -> ComponentHarness {
        try ComponentHarness(
            type, container: "test", component: "component", settings: [:], fields: [],
            services: MemoryHost(type).services)
    }

    @Test func `a piece of the items is made when it is asked for`() throws {
        (Endless.made, Endless.most) = (0, .max)
        var state = try harness(Endless.self).finishRestore()
        var pieces: [[ComponentEvent]] = []
        for _ in 0..<3 { pieces.append(state.next() ?? []) }
        #expect(Endless.made == 3 * ComponentState.length)
        #expect(pieces.first?.first == .contents(.replaceAll))
        let counts = pieces.joined().map { event -> Int in
            if case .contents(.insert(let items)) = event { items.count } else { 0 }
        }
        #expect(counts == [0] + Array(repeating: ComponentState.length, count: 3))
    }

    @Test func `tallies come in pieces, and each once`() throws {
        let stars = try harness(Stars.self)
        stars.restore(
            (0..<1_000).map { number in
                Ballot(
                    subject: .item("item \(number)"), actor: ActorID(1), value: 4,
                    cast: Timestamp(milliseconds: 0)
                ).record
            })
        let pieces = Array(stars.finishRestore())
        #expect(pieces.allSatisfy { $0.count <= ComponentState.length })
        #expect(Set(pieces.joined()).count == 1_000)
        #expect(pieces.joined().count == 1_000)
    }

    @Test func `who has no items reports just that`() throws {
        let host = try MemoryHost(Endless.self)
        Endless.most = 0
        #expect(host.restore([]) == [.contents(.replaceAll)])
    }
}

/// Has as many items as anybody asks for, and counts them.
private final class Endless: ContentListing {
    nonisolated(unsafe) static var made = 0  // guarded by the suite, whose tests are serialized
    nonisolated(unsafe) static var most = Int.max  // as above
    weak var delegate: (any ContentListingDelegate)?

    init(context: ComponentContext) {}

    var items: some Sequence<Item> {
        (0..<Self.most).lazy.map { number in
            Self.made += 1
            return Item(id: "item \(number)", fields: [:])
        }
    }

    func apply(_ change: Change) {}

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
