import AtriumKit
import Foundation
import Index
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// A list whose one item's id is what it had kept before, and that has kept what notifications of the container's say.
private final class Keeper: ContentListing {
    static let settings = [Setting.text("note", "Anything.").setting]

    weak var delegate: (any ContentListingDelegate)?
    let items: [Item]
    let isLoading = false
    private let context: ComponentContext

    init(context: ComponentContext) throws {
        self.context = context
        let kept = context.takeKept().map { String(decoding: $0, as: UTF8.self) }
        let found = kept.map { "\($0.utf8.count) \($0.prefix(20))" } ?? "nothing"
        let id = context.takeKept() == nil ? found : "twice"
        items = [Item(id: id, fields: ["title": "Kept"])]
        context.observe("films.app.keep") { [weak self] in
            let text = $0.payload["text"]?.text
            self?.keep(text.map { Array($0.utf8) })
        }
    }

    private func keep(_ bytes: [UInt8]?) {
        do throws(Refusal) {
            try context.keep(bytes)
        } catch {
            context.report(problem: error.reason)
        }
    }

    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// What components keep over restarts of the daemon.
@Suite(.timeLimit(.minutes(3))) struct KeptTests {
    private static let plugins =
        [Plugin].builtIn + [
            .inProcess("test.keeper", .contents, Keeper.self),
            .inProcess("test.other", .contents, Keeper.self),
        ]

    private let directory: TemporaryDirectory
    private var file: String { directory.path + "/kept/films.list" }

    init() throws { directory = try TemporaryDirectory() }

    private func start(keptBytes: Int = 1 << 20) async throws -> TestRegistry {
        var limits = HostLimits()
        limits.keptBytes = keptBytes
        return try await TestRegistry.start(
            in: directory, plugins: Self.plugins, limits: limits)
    }

    private func films(_ plugin: String = "test.keeper", note: String = "") -> ContainerDefinition {
        .films.changed {
            $0.components[1].plugin = plugin
            $0.components[1].settings = ["note": .text(note)]
        }
    }

    private func keep(_ text: String?, _ host: TestRegistry) async throws {
        let payload = (text.map { ["text": Value.text($0)] } ?? [:]).jsonBytes
        _ = try await host.call { (registry, reply: @escaping Reply<Int64?>) in
            registry.publish("films.app.keep", payload: payload, durable: false, by: .ann, reply)
        }
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: file) }

    private func found(_ host: TestRegistry) async throws -> String? {
        try await host.list().items.first?.id
    }

    /// A container whose list has kept a text by now.
    private func kept(_ text: String) async throws -> TestRegistry {
        let host = try await start()
        try await host.apply(films())
        #expect(try await found(host) == "nothing")
        try await keep(text, host)
        try await until { isThere }
        return host
    }

    @Test func `what a component has kept is given once to the one after a restart`() async throws {
        var host = try await kept("one")
        // The last of several counts.
        for text in ["two", "three", "four"] { try await keep(text, host) }
        try await until {
            (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\nfour") == true
        }
        try await host.end()
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        for _ in 0..<2 {
            host = try await start()
            #expect(try await found(host) == "4 four")
            try await host.end()
        }
    }

    @Test func `what is kept no more is gone`() async throws {
        let host = try await kept("one")
        try await keep(nil, host)
        try await until { !isThere }
        try await host.end()
    }

    @Test func `another plugin and other settings are given nothing, and the file goes`()
        async throws
    {
        for other in [films("test.other"), films(note: "another")] {
            let host = try await kept("one")
            try await host.apply(other)
            try await until { !isThere }
            #expect(try await found(host) == "nothing")
            try await host.apply(films())
            #expect(try await found(host) == "nothing")
            _ = try await host.call { $0.structure.delete("films", purge: true, by: .ann, $1) }
            try await host.end()
        }
    }

    @Test func `what else changes in a definition leaves it there`() async throws {
        let host = try await kept("one")
        try await host.apply(
            films().changed { $0.fields.append(Field(name: "year", type: .integer)) })
        #expect(try await found(host) == "3 one")
        try await host.apply(films().changed { $0.components.remove(at: 3) })
        #expect(isThere)
        try await host.end()
    }

    @Test(arguments: [true, false])
    func `it goes with its component, and with its container`(isDetached: Bool) async throws {
        let host = try await kept("one")
        if isDetached {
            _ = try await host.call { $0.detach("films", "list", purge: false, by: .ann, $1) }
        } else {
            _ = try await host.call { $0.structure.delete("films", purge: false, by: .ann, $1) }
        }
        try await until { !isThere }
        try await host.end()
    }

    @Test func `more than is kept is refused by the name of the limit`() async throws {
        let host = try await start(keptBytes: 10)
        try await host.apply(films())
        try await keep("0123456789", host)
        try await until { isThere }
        try await keep("0123456789a", host)
        try await until { try await host.status().state == .degraded }
        let reason = try await host.status().reason
        let problem = "It passed 11 bytes to keep(_:); the limit is 10 (limits.keptBytes)"
        #expect(reason?.contains(problem) == true)
        try await host.end()
        // Where the limit is lower by now, it is not read.
        let next = try await start(keptBytes: 9)
        #expect(try await found(next) == "nothing")
        try await next.end()
    }

    @Test(arguments: [0, 20, -1, -2])
    func `a file that is damaged is as if it were not there`(place: Int) async throws {
        try await kept("one and two").end()
        var bytes = try Data(contentsOf: URL(filePath: file))
        if place == -2 {
            bytes.removeLast()
        } else {
            bytes[place < 0 ? bytes.count - 1 : place] ^= 1
        }
        try bytes.write(to: URL(filePath: file))
        let host = try await start()
        #expect(try await found(host) == "nothing")
        try await host.end()
    }

    @Test func `a file of nobody's is removed at the start`() async throws {
        try await kept("one").end()
        let other = directory.path + "/kept/gone.list"
        try Data("x".utf8).write(to: URL(filePath: other))
        try Data("x".utf8).write(to: URL(filePath: file + ".new"))
        let host = try await start()
        try await until { !FileManager.default.fileExists(atPath: other) }
        try await until { !FileManager.default.fileExists(atPath: file + ".new") }
        #expect(isThere)
        try await host.end()
    }
}
