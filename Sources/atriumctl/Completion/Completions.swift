import ArgumentParser
import Interfaces
import Varlink

/// What may be typed next, asked of the daemon when somebody presses TAB.
///
/// It never starts an argument: where the daemon does not answer, there is nothing on offer.
struct Completions {
    /// The most that is worth showing.
    private static let most = 500

    /// The words of the command line, the command itself first.
    private let words: [String]
    /// What is typed of the word that is completed.
    private let typed: String
    private let session: Session

    init(_ words: [String], at index: Int) async throws {
        self.words = words.map(Self.plain)
        typed = self.words.indices.contains(index) ? self.words[index] : ""
        session = try await Session(socket: SocketPath.find(given: Self.socket(self.words)))
    }

    /// A word without the quotes that it may have been typed with.
    private static func plain(_ word: String) -> String {
        word.filter { !#"'"\"#.contains($0) }
    }

    /// Whether a shell takes a name as it is.
    ///
    /// Others may have made up the name, and bash evaluates what is on offer (`compgen -W`): names
    /// with a dollar, a quote or a space in them have to be typed.
    static func isHarmless(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0)
                || "-._/=:@+,%".unicodeScalars.contains($0)
        }
    }

    /// The value of `--socket`.
    private static func socket(_ words: [String]) -> String? {
        let prefix = "--socket="
        if let word = words.first(where: { $0.hasPrefix(prefix) }) {
            return String(word.dropFirst(prefix.count))
        }
        return words.firstIndex(of: "--socket").flatMap { index in
            words.indices.contains(index + 1) ? words[index + 1] : nil
        }
    }
}

extension Completions {
    /// The names of the containers.
    func containers() async throws -> [String] {
        try await known().map(\.name)
    }

    /// `CONTAINER` and, once it is clear which, `CONTAINER/ITEM`.
    func targets() async throws -> [String] {
        let names = try await containers().filter { $0.hasPrefix(typed) || isWithin($0) }
        guard names.count == 1, let container = names.first else { return names }
        let items = try await items(in: container)
        return isWithin(container) ? items : [container] + items
    }

    /// The components of the container that the command is about.
    func components() async throws -> [String] {
        try await named()?.components.map(\.name) ?? []
    }

    /// The components of that container that the command is about, by their kind.
    func fittingComponents() async throws -> [String] {
        let kind =
            switch words.dropFirst().first {
            case "vote", "unvote": "votes"
            case "thread", "comment", "reply", "edit-comment", "delete-comment": "comments"
            default: "contents"
            }
        return try await named()?.components.filter { $0.kind == kind }.map(\.name) ?? []
    }

    /// The scopes of that container; where none is named, of all: a screen's id does not name it.
    func scopes() async throws -> [String] {
        let known = try await known()
        let containers = named(among: known).map { [$0] } ?? known
        return Set(containers.flatMap { ($0.scopes ?? []).map(\.name) }).sorted()
    }

    /// `SECTION=FILTER` of that container.
    func filters() async throws -> [String] {
        guard let container = try await named() else { return [] }
        let reply = try await session.call(
            Filters.List.self, .init(container: container.name))
        return reply.sections.flatMap { section in
            section.filters.map { "\(section.id)=\($0.id)" }
        }
    }

    /// The names of that container's fields.
    func fields() async throws -> [String] {
        guard let container = try await named() else { return [] }
        return try await session.describe(container.name).fields.map(\.name)
    }

    /// The fields of that container, and what else it can be sorted by.
    func orders() async throws -> [String] {
        guard let container = try await named() else { return [] }
        let fields = try await session.describe(container.name).fields
        let names = fields.map(\.name) + ["votes.score", "votes.count", "comments.count"]
        return typed.hasPrefix("-") ? names.map { "-" + $0 } : names
    }

    /// The ids of the plugins.
    func plugins() async throws -> [String] {
        try await session.call(Plugins.List.self, .init()).plugins.map(\.id)
    }

    /// The interfaces of the service.
    func interfaces() async throws -> [String] {
        try await session.call(VarlinkService.GetInfo.self, .init()).interfaces
    }

    /// The methods of the service, once it is clear of which interface.
    func methods() async throws -> [String] {
        let interfaces = try await interfaces().filter {
            $0.hasPrefix(typed) || typed.hasPrefix($0 + ".")
        }
        var methods: [String] = []
        for interface in interfaces {
            let definition = try await session.call(
                VarlinkService.GetInterfaceDescription.self, .init(interface: interface)
            ).description
            methods += definition.split(separator: "\n").compactMap { line in
                line.wholeMatch(of: #/method +(\w+).*/#).map { "\(interface).\($0.output.1)" }
            }
        }
        return methods
    }

    private func known() async throws -> [Container] {
        try await session.call(Containers.List.self, .init()).containers
    }

    /// The container that another word names, alone or before a slash.
    private func named() async throws -> Container? {
        named(among: try await known())
    }

    private func named(among containers: [Container]) -> Container? {
        for word in words.dropFirst(2) {
            let name = word.prefix { $0 != "/" }
            if let container = containers.first(where: { $0.name == name }) { return container }
        }
        return nil
    }

    private func isWithin(_ container: String) -> Bool { typed.hasPrefix(container + "/") }

    private func items(in container: String) async throws -> [String] {
        var items: [String] = []
        var cursor: String?
        repeat {
            let page = try await session.call(
                Contents.List.self,
                .init(container: container, fields: [], limit: 1000, cursor: cursor))
            items += page.items.map { "\(container)/\($0.id)" }.filter { $0.hasPrefix(typed) }
            cursor = page.next
        } while cursor != nil && items.count < Self.most
        return items
    }
}

extension CompletionKind {
    static var containers: CompletionKind { asking { try await $0.containers() } }
    /// Containers and items.
    static var targets: CompletionKind { asking { try await $0.targets() } }
    /// Components of the container that is named before.
    static var components: CompletionKind { asking { try await $0.components() } }
    /// Those of the kind that the command is about; lists, unless it votes or comments.
    static var fittingComponents: CompletionKind { asking { try await $0.fittingComponents() } }
    /// Scopes of the container that is named before.
    static var scopes: CompletionKind { asking { try await $0.scopes() } }
    /// Filters of the container that is named before.
    static var filters: CompletionKind { asking { try await $0.filters() } }
    /// Fields of the container that is named before.
    static var orders: CompletionKind { asking { try await $0.orders() } }
    /// Names of fields of the container that is named before.
    static var fieldNames: CompletionKind { asking { try await $0.fields() } }
    static var plugins: CompletionKind { asking { try await $0.plugins() } }
    static var interfaces: CompletionKind { asking { try await $0.interfaces() } }
    static var methods: CompletionKind { asking { try await $0.methods() } }
    /// Nothing, and no files either, which shells offer by themselves.
    ///
    /// In fish an argument without any completion would get the next one's.
    static var nothing: CompletionKind { .custom { _, _, _ in [] } }
    /// How much to log.
    static var levels: CompletionKind {
        .list(["trace", "debug", "info", "notice", "warning", "error", "critical"])
    }

    /// A shell waits for the answer: after a second there is none.
    private static func asking(
        _ question: @escaping @Sendable (Completions) async throws -> [String]
    ) -> CompletionKind {
        .custom { words, index, _ in
            await withTaskGroup(of: [String].self) { group in
                group.addTask {
                    ((try? await question(Completions(words, at: index))) ?? [])
                        .filter(Completions.isHarmless)
                }
                group.addTask {
                    try? await Task.sleep(for: .seconds(1))
                    return []
                }
                let first = await group.next() ?? []
                group.cancelAll()
                return first
            }
        }
    }
}
