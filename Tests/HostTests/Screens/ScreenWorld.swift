import AtriumKit
import NIOCore
import TestSupport

@testable import Host

/// A container with its model, the people who change it, and those who look at it.
///
/// Unchecked: everything happens on the registry's event loop.
final class ScreenWorld: @unchecked Sendable {
    /// Somebody who looks.
    ///
    /// Unchecked, like the world that they are in.
    final class Looker: @unchecked Sendable {
        let actor: String
        var reader: ScreenReader?
        var copy = ScreenCopy()
        var choices = ScreenModel.Choices()
        /// How many screens it has opened: what becomes of a choice on an earlier one says nothing of the present.
        var opened = 0
        /// How likely it is read after a step, in percent.
        let diligence: Int
        /// A revision that it was told of.
        var told = 0
        /// Whether it has read nothing from its present reader.
        var isNew = true

        init(_ actor: String, diligence: Int) {
            self.actor = actor
            self.diligence = diligence
        }
    }

    let registry: Registry
    var model = ScreenModel()
    var random: RepeatableRandom
    let lookers: [Looker]
    let script: RemoteLauncher.Script?
    /// The delegate that its definitions name.
    let delegate: DelegateDefinition?
    private(set) var revisions = 0
    /// What went wrong first.
    var failure: String?
    var posted: [(id: String, item: String?)] = []

    private var step = 0
    private var steps = 0
    private var done: (String?) -> Void = { _ in }

    init(
        _ registry: Registry, seed: UInt64, script: RemoteLauncher.Script?,
        scopes: [ScopeDefinition], delegate: DelegateDefinition?
    ) {
        self.registry = registry
        self.script = script
        self.delegate = delegate
        model.scopes = scopes
        random = RepeatableRandom(seed)
        lookers = [
            Looker("unix:1000", diligence: 70), Looker("unix:1001", diligence: 40),
            Looker("unix:1000", diligence: 8), Looker("x:nobody", diligence: 25),
        ]
    }

    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func chance(_ percent: Int) -> Bool { pick(1...100) <= percent }
    func any<T>(_ all: [T]) -> T? { all.randomElement(using: &random) }

    /// Runs so many steps, then says what went wrong.
    func run(steps: Int, _ done: @escaping (String?) -> Void) {
        self.steps = steps
        self.done = done
        openAll(lookers[...]) { [self] in next() }
    }

    private func openAll(_ lookers: ArraySlice<Looker>, _ then: @escaping @Sendable () -> Void) {
        guard let looker = lookers.first else { return then() }
        let rest = lookers.dropFirst()
        open(looker) { [self] in openAll(rest, then) }
    }

    private func next() {
        guard step < steps, failure == nil else {
            return done(failure.map { "step \(step): \($0)" })
        }
        if let script, chance(2) { script.lose(1) }
        step += act { [self] in
            look()
            // The stack ends here.
            registry.domain.timers.later { self.next() }
        }
    }

    /// Those who look read what there is, and compare.
    private func look() {
        for looker in lookers where failure == nil && chance(looker.diligence) { read(looker) }
    }

    /// Reads all there is for one, and compares it with what there should be.
    func read(_ looker: Looker) {
        guard let reader = looker.reader else { return }
        var isBlocked = false
        do {
            while let revision = try registry.screens.pull(reader).get() {
                revisions += 1
                if !looker.isNew, isEmpty(revision), revision.revision > looker.told {
                    failure = "an empty revision \(revision.revision)"
                }
                looker.isNew = false
                try looker.copy.apply(revision)
            }
            isBlocked = registry.state.screens[reader.screen]?.isBlocked ?? false
        } catch {
            failure = "\(error)"
        }
        guard failure == nil, !isBlocked, isQuiet else { return }
        if looker.copy.revision < looker.told { failure = "revision \(looker.told) never came" }
        compare(looker)
    }

    private func isEmpty(_ revision: ScreenRevision) -> Bool {
        let step = revision.step
        return step.view.isEmpty && step.lists.isEmpty && step.focus.isEmpty
            && step.tally == nil
    }

    /// Whether all components are there: else screens show what they had.
    private var isQuiet: Bool {
        registry.containers["shelves"]?.slots.allSatisfy(\.isAttached) ?? false
    }

    private func compare(_ looker: Looker) {
        var thread: [CommentView]? = script == nil ? [] : nil
        if looker.choices.focus.map(model.has) ?? true {
            let query = ThreadQuery(
                subject: Subject(item: looker.choices.focus),
                limit: looker.choices.limit(of: "talk"))
            nonisolated(unsafe) var found: [CommentView]?
            registry.thread("shelves", component: nil, query) {
                found = (try? $0.get())?.comments
            }
            thread = found
        }
        // A worker answers later; what it says then is compared elsewhere.
        let difference = model.difference(
            looker.copy, looker.choices, actor: looker.actor,
            thread: thread ?? looker.copy.comments)
        if let difference {
            failure = "\(looker.actor) sees \(difference)\nwith \(looker.choices)"
        }
    }
}
