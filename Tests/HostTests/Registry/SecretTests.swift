import AtriumKit
import Glibc
import Store
import TestSupport
import Testing

@testable import Host

/// Settings that nobody shall read.
@Suite(.timeLimit(.minutes(1))) struct SecretTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func host() async throws -> TestRegistry {
        try await .start(
            plugins: .builtIn + [.inProcess("org.test.keeper", .contents, Keeper.self)])
    }

    private func films(_ key: Value) -> ContainerDefinition {
        .films.changed {
            $0.components.append(
                ComponentDefinition(
                    name: "keeper", plugin: "org.test.keeper", settings: ["key": key]))
        }
    }

    @Test func `a component gets the text that a definition only points to`() async throws {
        let host = try await host()
        let path = try folder.write("key", "hunter2\n")
        try await host.apply(films(["secretFile": .text(path)]))
        // The component lists it, to prove that it has it.
        let list = try await host.call {
            $0.list("films", ListRequest(component: "keeper"), $1)
        }
        #expect(list.items.map(\.id) == ["hunter2"])
        let known = try await host.call { registry, reply in
            reply(.success("\(registry.list(hasDetails: true))"))
        }
        #expect(!known.contains("hunter2"))
        #expect(known.contains(path))
        try await host.end()
    }

    @Test(
        arguments: [
            ("hunter2", "write { secretFile: /PATH } or { secretCredential: NAME }"),
            (["secret": "hunter2"], "found object"),
            (["secretFile": "key"], "'key' is no whole path"),
            (["secretFile": "/nobody/has/this"], "/nobody/has/this: No such file"),
            (["secretCredential": "../key"], "is no credential's name"),
        ] as [(Value, String)])
    func `what is written out, or is not there, is refused with what to write, unquoted`(
        key: Value, evidence: String
    ) async throws {
        let host = try await host()
        await #expect {
            try await host.apply(films(key))
        } throws: { error in
            guard
                case .settingInvalid("keeper", "key", let reason) = error as? HostError
            else { return false }
            return reason.contains(evidence) && !reason.contains("hunter2")
        }
        #expect(host.store.lastSequence == 0)
        try await host.end()
    }
}

/// A list of its secret.
private final class Keeper: ContentListing {
    private static let secret = Setting.secret("key", "what it keeps").required()
    static var settings: [Setting] { [secret.setting] }

    weak var delegate: (any ContentListingDelegate)?
    private let key: String

    init(context: ComponentContext) throws { key = context.settings[Self.secret] }

    var items: [Item] { [Item(id: key, fields: ["title": "A secret"])] }

    func apply(_ change: Change) {}

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
