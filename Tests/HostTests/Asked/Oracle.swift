import AtriumKit
import Index
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// A source that is asked: it finds letters, or holds its answers until it is told them.
final class Oracle: Querying {
    private static let holds = Setting.boolean(
        "holds", "Whether it replies only when a test asks for it."
    ).defaulting(to: false)
    private static let page = Setting.integer(
        "page", in: 1...2_000, "How many items it gives at most."
    ).defaulting(to: 1_000)
    static var settings: [Setting] { [holds.setting, page.setting] }

    weak var delegate: (any ContentListingDelegate)?
    private let context: ComponentContext
    private let holds: Bool
    private let page: Int
    private var letters = "abcdefghijklmnopqrstuvwxyz".map { String($0) }
    private var open: [(ContentQuestion, (Result<ContentAnswer, Refusal>) -> Void)] = []

    init(context: ComponentContext) throws {
        self.context = context
        holds = context.settings[Self.holds]
        page = context.settings[Self.page]
        context.observe("films.app.*") { [weak self] in self?.hear($0) }
    }

    func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void
    ) {
        let selected = question.selection.sections.values.joined().joined(separator: "+")
        context.logger.info(
            "asked '\(question.search)' \(question.path) [\(selected)] \(question.sort) "
                + "\(question.limit) \(question.cursor ?? "first")")
        if holds { return open.append((question, reply)) }
        reply(answer(question))
    }

    private func answer(_ question: ContentQuestion) -> Result<ContentAnswer, Refusal> {
        if question.search == "fails" { return .failure(Refusal("The source is shut.")) }
        var found = letters.filter { question.search.isEmpty || question.search.contains($0) }
        if question.sort.first == "-title" { found.reverse() }
        if let entered = question.path.last { found = [entered + "1", entered + "2"] }
        let start = question.cursor.flatMap { Int($0) } ?? 0
        let end = min(start + min(page, question.limit), found.count)
        return .success(
            ContentAnswer(
                items: found[start..<end].map { Self.item($0, question.path.last) },
                next: end < found.count ? "\(end)" : nil))
    }

    private static func item(_ id: String, _ parent: String?) -> Item {
        // What is written x! has no title, and x* a plot, too.
        var fields: [String: Value] = id.hasSuffix("!") ? [:] : ["title": .text(id)]
        if id.hasSuffix("*") { fields["plot"] = "It ends well." }
        return Item(id: id, fields: fields, parent: parent)
    }

    private func hear(_ notification: Notification) {
        let payload = notification.payload
        let ids = (payload["ids"]?.list ?? []).compactMap(\.text)
        switch notification.topic {
        case "films.app.reply":
            let due = open.filter { $0.0.search == payload["search"]?.text ?? "" }
            open.removeAll { $0.0.search == payload["search"]?.text ?? "" }
            let result: Result<ContentAnswer, Refusal> =
                payload["refuses"]?.text.map { .failure(Refusal($0)) }
                ?? .success(
                    ContentAnswer(
                        items: ids.map { Self.item($0, nil) },
                        total: payload["total"]?.int.map { Int($0) },
                        next: payload["next"]?.text))
            for (_, reply) in due {
                reply(result)
                // Who replies twice is not heard.
                reply(.success(ContentAnswer(items: [])))
            }
        case "films.app.letters":
            letters = ids
            delegate?.contentListing(self, didChange: .replaceAll)
        case "films.app.change":
            let items = ids.map { Item(id: $0, fields: ["title": .text("new \($0)")]) }
            delegate?.contentListing(self, didChange: .update(items))
        case "films.app.remove": delegate?.contentListing(self, didChange: .remove(ids))
        default: break
        }
    }

    static func films(
        holds: Bool = false, page: Int = 1_000, filters: Bool = false
    ) -> ContainerDefinition {
        .films.changed {
            $0.components[1].plugin = "test.oracle"
            $0.components[1].settings = ["holds": .bool(holds), "page": .int(Int64(page))]
            if !filters { $0.components.removeFirst() }
        }
    }
}

/// A host with the oracle, and what that was asked.
struct OracleHost {
    let host: TestRegistry
    let log: CapturedLog

    static func start(
        _ definition: ContainerDefinition, in directory: TemporaryDirectory? = nil,
        _ limit: (inout HostLimits) -> Void = { _ in }
    ) async throws -> OracleHost {
        var limits = HostLimits()
        limits.typingPause = .milliseconds(10)
        limit(&limits)
        let log = CapturedLog()
        let plugins = [Plugin].builtIn + [.inProcess("test.oracle", .contents, Oracle.self)]
        let host = try await TestRegistry.start(
            in: directory, plugins: plugins, limits: limits, logger: log.logger)
        if directory == nil { try await host.apply(definition) }
        return OracleHost(host: host, log: log)
    }

    /// What the source was asked so far.
    var asked: [String] { log.messages.filter { $0.hasPrefix("asked '") } }

    func tell(_ what: String, _ payload: [String: Value] = [:]) async throws {
        let bytes = payload.jsonBytes
        _ = try await host.call { (registry, reply: @escaping Reply<Int64?>) in
            registry.publish("films.app.\(what)", payload: bytes, durable: false, by: .ann, reply)
        }
    }

    /// Has the source answer what it was asked about a search.
    func reply(_ ids: [String], to search: String = "") async throws {
        try await tell("reply", ["search": .text(search), "ids": .list(ids.map(Value.text))])
    }

    func refuse(_ reason: String, to search: String = "") async throws {
        try await tell("reply", ["search": .text(search), "refuses": .text(reason)])
    }

    func open(limit: Int = 50) async throws -> ScreenClient {
        try await ScreenClient(host, ScreenRequest(container: "films", limit: limit))
    }

    func search(_ text: String, on client: ScreenClient) async throws {
        let id = client.id
        _ = try await host.call { $0.search(id, text, by: .ann, $1) }
    }
}
