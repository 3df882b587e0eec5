import JSONCodec

/// Packages of the shape of Debian's, the same ones each time: some three hundred bytes each, sections
/// of very different sizes, tags that many share, words that few do.
struct GeneratedPackages {
    private static let sections = [
        "libs", "devel", "python", "perl", "games", "science", "doc", "admin", "net", "utils",
        "education", "sound", "graphics", "editors", "math", "x11",
    ]
    private static let roles = ["program", "shared-lib", "devel-lib", "app-data", "documentation"]
    private static let interfaces = ["x11", "commandline", "text-mode", "web", "daemon"]
    private static let words = [
        "library", "for", "tools", "data", "files", "server", "client", "simple", "fast", "module",
        "chess", "puzzle", "editor", "parser", "network", "image", "sound", "engine", "common",
        "the",
    ]

    private var state: UInt64 = 42

    /// Makes so many.
    func items(_ count: Int) -> [Catalogue.Item] {
        var copy = self
        return (0..<count).map { copy.item($0) }
    }

    private mutating func item(_ number: Int) -> Catalogue.Item {
        let id = "\(skewed(Self.words))-\(skewed(Self.words))-\(number)"
        let role = skewed(Self.roles)
        let interface = skewed(Self.interfaces)
        let summary = (0..<(5 + below(6))).map { _ in skewed(Self.words) }.joined(separator: " ")
        let fields: [JSONValue.Member] = [
            .init("name", .string(id)), .init("version", .string("\(below(20)).\(below(50))-1")),
            .init("section", .array([.string(skewed(Self.sections))])),
            .init(
                "tags",
                .array([.string("role::" + role), .string("interface::" + interface)])),
            .init("maintainer", .string("Debian Team \(below(2_000))")),
            .init("summary", .string(summary)), .init("role", .array([.string(role)])),
            .init("interface", .array([.string(interface)])),
            .init("size", .int(Int64(below(1 << 24)))),
        ]
        let value = JSONValue.object([
            .init("id", .string(id)), .init("fields", .object(fields)),
        ])
        return Catalogue.Item(id: id, json: JSON.encode(value))
    }

    /// One of them, the first ones far more often.
    private mutating func skewed(_ choices: [String]) -> String {
        choices[min(below(choices.count), below(choices.count))]
    }

    private mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
