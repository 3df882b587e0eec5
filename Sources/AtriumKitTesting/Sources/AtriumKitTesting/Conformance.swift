public import AtriumKit

/// The conformance suite: what every component of a kind must keep, whoever wrote it.
///
/// It gives the component random commands, the same for the same seed, and then checks that
/// - its state is a function of the *set* of its records: restored in another order, or twice, it
///   is the same;
/// - commands that were undone left no trace, and a command that is repeated changes nothing;
/// - what it refused it did not do;
/// - what it reported to its delegate is what it answers when it is asked;
/// - the reads of its kind agree with each other: pages with the whole, counts with what is there.
public enum Conformance {
    /// The fields of the container that the suite puts components in: one of each type.
    public static let fields: [Field] = [
        Field(name: "title", type: .text, required: true, search: true),
        Field(name: "genres", type: .keywords),
        Field(name: "rating", type: .number, min: 0, max: 10),
        Field(name: "year", type: .integer),
        Field(name: "duration", type: .duration),
        Field(name: "seen", type: .boolean),
        Field(name: "released", type: .time),
        Field(name: "site", type: .url),
        Field(name: "poster", type: .image),
        Field(name: "plot", type: .markdown),
    ]

    /// Runs the suite of a kind.
    ///
    /// - Parameters:
    ///   - kind: the kind that the component must be of.
    ///   - settings: what the component needs; a plugin's manifest gives them as
    ///     `"conformance": {"settings": {…}}`.
    ///   - fields: the container's fields.
    ///   - seed: which random commands; a failure names it.
    ///   - commands: how many.
    ///   - makeDriver: a driver for one more component; asked for several.
    /// - Returns: what was done.
    /// - Throws: ``ConformanceFailure`` for the first rule that is broken, or what a driver throws.
    @discardableResult
    public static func run(
        _ kind: Kind, settings: [String: Value] = [:], fields: [Field] = Conformance.fields,
        seed: UInt64 = 1, commands: Int = 200,
        driver makeDriver: @escaping @Sendable () async throws -> any ConformanceDriver
    ) async throws -> ConformanceReport {
        let bench = Bench(
            kind: kind, settings: settings, fields: fields, seed: seed, makeDriver: makeDriver)
        if kind == .filters {
            var suite = FiltersSuite(bench)
            return try await suite.run(rounds: commands / 10)
        }
        let suite: any RecordSuite =
            switch kind {
            case .contents: ContentsSuite(fields: fields)
            case .votes: VotesSuite()
            default: CommentsSuite()
            }
        var run = RecordRun(bench, suite)
        return try await run.run(commands: commands)
    }

    /// Runs the suite of its kind on a component in this process.
    ///
    /// - Parameters:
    ///   - type: the component's class.
    ///   - settings: what it needs.
    ///   - fields: the container's fields.
    ///   - seed: which random commands.
    ///   - commands: how many.
    /// - Returns: what was done.
    /// - Throws: ``ConformanceFailure`` for the first rule that is broken, or what the
    ///   component's `init` throws.
    @discardableResult
    public static func run(
        _ type: any Component.Type, settings: [String: Value] = [:],
        fields: [Field] = Conformance.fields, seed: UInt64 = 1, commands: Int = 200
    ) async throws -> ConformanceReport {
        let driver = InProcessDriver(type)
        let kind = try await driver.start(settings: settings, fields: fields)
        await driver.stop()
        return try await run(
            kind, settings: settings, fields: fields, seed: seed, commands: commands
        ) { InProcessDriver(type) }
    }
}

/// What a run of the suite did.
public struct ConformanceReport: Sendable, Hashable, CustomStringConvertible {
    /// The kind.
    public var kind: Kind
    /// The seed of the random commands.
    public var seed: UInt64
    /// How many commands the component accepted, and changed something.
    public var accepted = 0
    /// How many it refused, or had nothing to change for.
    public var declined = 0
    /// The rules that were checked, in order.
    public var rules: [String] = []

    /// All of it, for people.
    public var description: String {
        """
        \(kind.rawValue): conforms (seed \(seed); \(accepted) commands accepted, \
        \(declined) declined)
        \(rules.map { "  ✓ \($0)" }.joined(separator: "\n"))
        """
    }
}

/// A rule that a component breaks.
public struct ConformanceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind.
    public var kind: Kind
    /// The seed with which it happens again; nil: it happens each time.
    public var seed: UInt64?
    /// The rule, in a sentence.
    public var rule: String
    /// What differs.
    public var difference: String

    /// All of it, for people.
    public var description: String {
        "\(kind.rawValue)\(seed.map { ", seed \($0)" } ?? ""): broken is \"\(rule)\": \(difference)"
    }
}
