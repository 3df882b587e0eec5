import AtriumKit
import Synchronization

/// Parts that every suite needs: a source of components, and checks that throw if a rule is broken.
struct Bench: Sendable {
    let kind: Kind
    let settings: [String: Value]
    let fields: [Field]
    let seed: UInt64
    let makeDriver: @Sendable () async throws -> any ConformanceDriver
    private let sources = Sources()

    /// State shared by the sources of a run.
    private final class Sources: Sendable {
        /// Whether a source has listed nothing within the time that the suite waits.
        let areLoading = Atomic(false)
    }

    /// The number of polls for the items of a source that is loading.
    private static let looks = 40

    init(
        kind: Kind, settings: [String: Value], fields: [Field], seed: UInt64,
        makeDriver: @escaping @Sendable () async throws -> any ConformanceDriver
    ) {
        self.kind = kind
        self.settings = settings
        self.fields = fields
        self.seed = seed
        self.makeDriver = makeDriver
    }

    /// Creates one more component, without records; a source that reads its items from elsewhere has listed them.
    func freshComponent() async throws -> any ConformanceDriver {
        let driver = try await makeDriver()
        let found = try await driver.start(settings: settings, fields: fields)
        guard found == kind else {
            await driver.stop()
            throw failure(
                "a component is of the kind that its manifest names",
                "the manifest says \(kind.rawValue), the class is \(found.rawValue)")
        }
        try await awaitItems(of: driver)
        return driver
    }

    /// Waits until a source has listed its items, for at most two seconds in a worker; after the first source that has
    /// not, it does not wait any more.
    func awaitItems(of driver: any ConformanceDriver) async throws {
        guard kind == .contents, !sources.areLoading.load(ordering: .relaxed) else { return }
        for _ in 0..<Self.looks {
            if try await driver.restore([]).contains(.contents(.replaceAll)) { return }
            await driver.settle()
        }
        sources.areLoading.store(true, ordering: .relaxed)
    }

    func failure(_ rule: String, _ difference: String) -> ConformanceFailure {
        ConformanceFailure(kind: kind, seed: seed, rule: rule, difference: difference)
    }

    /// Throws unless both are equal.
    func check<Fact: Equatable>(
        _ rule: String, _ what: String, _ found: Fact, is expected: Fact
    ) throws {
        if found != expected {
            throw failure(rule, "\(what) is \(found); expected was \(expected)")
        }
    }

    /// Throws unless the condition holds.
    func check(_ rule: String, _ holds: Bool, _ difference: @autoclosure () -> String) throws {
        if !holds { throw failure(rule, difference()) }
    }
}

/// The observable state of a component: facts by subject.
struct Observation: Sendable, Equatable {
    /// A fact.
    enum Fact: Sendable, Equatable {
        case item(Item)
        case details([String: Value]?)
        case tally(Tally)
        case ballots([Ballot])
        case count(Int)
        case comment(ThreadPage.Entry?)
        case thread(ThreadPage)
        case keys(Set<String>)
    }

    var facts: [String: Fact] = [:]

    /// Returns the first difference, in words; nil if there is none.
    func difference(from expected: Observation) -> String? {
        let names = Set(facts.keys).union(expected.facts.keys).sorted()
        guard let name = names.first(where: { facts[$0] != expected.facts[$0] }) else {
            return nil
        }
        let (found, wanted) = (facts[name], expected.facts[name])
        return "\(name) is \(found.map { "\($0)" } ?? "not there"); expected was "
            + "\(wanted.map { "\($0)" } ?? "that it is not there")"
    }
}
