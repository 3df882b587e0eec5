import AtriumKit
import Index
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// A source whose pictures are read when the test says so.
private final class Gallery: ImageProviding {
    /// Ends the reading of an item's picture.
    struct Gate: Sendable {
        let opened: AsyncStream<Void>
        let open: AsyncStream<Void>.Continuation

        init() { (opened, open) = AsyncStream.makeStream() }
    }

    static let gates = ["kept": Gate(), "changed": Gate(), "removed": Gate()]
    /// Takes an element as each reading begins.
    static let begun = AsyncStream<Void>.makeStream()

    weak var delegate: (any ContentListingDelegate)?
    let items = Gallery.gates.keys.sorted().map { Gallery.item($0, cover: "first") }

    init(context: ComponentContext) {
        context.observe("films.app.next") { [weak self] _ in
            guard let self else { return }
            delegate?.contentListing(
                self, didChange: .update([Self.item("changed", cover: "second")]))
            delegate?.contentListing(self, didChange: .remove(["removed"]))
        }
    }

    private static func item(_ id: String, cover: String) -> Item {
        Item(id: id, fields: ["title": .text(id), "cover": .text("source:\(cover)")])
    }

    func image(of id: String, field: String) -> ImageWork? {
        let gate = Self.gates[id]
        return {
            Self.begun.continuation.yield()
            if let gate { for await _ in gate.opened {} }
            return Array("GIF89a".utf8)
        }
    }

    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

@Suite(.timeLimit(.minutes(1))) struct ImageTests {
    @Test func `a picture whose item goes while it is read is shown to nobody`() async throws {
        let host = try await TestRegistry.start(
            plugins: [Plugin].builtIn + [.inProcess("test.gallery", .contents, Gallery.self)])
        try await host.apply(
            .films.changed {
                $0.fields.append(Field(name: "cover", type: .image))
                $0.components[1].plugin = "test.gallery"
            })
        try await until { (try? await host.list().items.count) == 3 }
        async let answers: [Result<ItemImage, HostError>] = host.callAll(3) {
            registry, index, reply in
            let item = ["changed", "kept", "removed"][index]
            registry.containers["films"]?.contents.image(of: item, in: nil, field: "cover", reply)
        }
        var begun = Gallery.begun.stream.makeAsyncIterator()
        for _ in 0..<3 { _ = await begun.next() }
        _ = try await host.call { (registry, reply: @escaping Reply<Int64?>) in
            registry.publish(
                "films.app.next", payload: Array("{}".utf8), durable: false, by: .ann, reply)
        }
        try await until { try await host.list().items.count == 2 }
        for gate in Gallery.gates.values { gate.open.finish() }
        let results = try await answers
        #expect(try results[1].get().type == "image/gif")
        #expect(
            results[0]
                == .failure(
                    .refused(
                        reason: "The picture in 'cover' was replaced while it was read.",
                        retryAfter: 0)))
        #expect(results[2] == .failure(.itemNotFound(container: "films", item: "removed")))
        try await host.end()
    }
}
