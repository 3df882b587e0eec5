public import AtriumKit

/// The conformance suite: the rules that every component of a kind must keep.
///
/// It gives the component random commands, the same for the same seed, and then checks that
/// - its state is a function of the *set* of its records: restoring them in another order, or twice, gives the same
///   state;
/// - commands that were undone left no trace, and a repeated command changes nothing;
/// - a refused command changed nothing;
/// - it answers questions with what it reported to its delegate;
/// - the reads of its kind agree with each other: pages with the whole, counts with the contents.
public enum Conformance {
    /// The fields of the container in which the suite runs components: one of each type.
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
    ///   - settings: the component's settings; a plugin's manifest gives them as `"conformance": {"settings": {…}}`.
    ///   - fields: the container's fields.
    ///   - seed: the seed of the random commands; a failure names it.
    ///   - commands: the number of commands.
    ///   - makeDriver: returns a driver for one more component; called several times.
    /// - Returns: the report of the run.
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
    ///   - settings: the component's settings.
    ///   - fields: the container's fields.
    ///   - seed: the seed of the random commands.
    ///   - commands: the number of commands.
    /// - Returns: the report of the run.
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

/// The report of a run of the suite.
public struct ConformanceReport: Sendable, Hashable, CustomStringConvertible {
    /// The component's kind.
    public var kind: Kind
    /// The seed of the random commands.
    public var seed: UInt64
    /// The number of commands that the component accepted, and that changed something.
    public var accepted = 0
    /// The number of commands that it refused, or that changed nothing.
    public var declined = 0
    /// The rules that were checked, in order.
    public var rules: [String] = []

    /// The report as text, for people.
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
    /// The component's kind.
    public var kind: Kind
    /// The seed that reproduces the failure; nil: it occurs with any.
    public var seed: UInt64?
    /// The rule, in a sentence.
    public var rule: String
    /// The difference between expected and actual values.
    public var difference: String

    /// The failure as text, for people.
    public var description: String {
        "\(kind.rawValue)\(seed.map { ", seed \($0)" } ?? ""): broken is \"\(rule)\": \(difference)"
    }
}
