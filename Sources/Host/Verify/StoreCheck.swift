import Dispatch
import NIOCore
import Store

/// Recounts the store's rows, slice by slice, while SQLite checks the file.
final class StoreCheck {
    /// The findings in a component's records.
    struct Found {
        var records = 0
        var damaged = FoundKeys()
        /// How the count of the records differs from the stored count.
        var difference: RecordDifference?
    }

    /// The component whose records were read.
    struct ComponentPath: Hashable {
        var container: String
        var component: String
    }

    private var components: [ComponentPath: Found] = [:]
    /// The findings in the log's entries.
    private(set) var entries = Found()
    private(set) var missingEntries = 0
    /// The problems of the rows of the store's small tables.
    private(set) var problems: [String] = []
    /// The problems that SQLite reports in the file; nil: it was not checked.
    private(set) var lines: [String]?

    /// Called with the number of records that were read.
    var progress: (_ path: ComponentPath, _ records: Int) -> Void = { _, _ in }

    private let domain: Domain
    private let container: String?
    private let isWanted: () -> Bool
    private var quick: QuickCheck?
    private var isChecking = false
    private var waiting: (() -> Void)?

    /// Creates a check of one container's records; nil: of all records, the log and the file.
    init(of container: String?, in domain: Domain, while isWanted: @escaping () -> Bool) {
        self.container = container
        self.domain = domain
        self.isWanted = isWanted
    }

    /// Recounts the rows; `done` is called at the end, with an error if they can't be read, and not once the
    /// verification is no longer wanted.
    func run(_ done: @escaping (HostError?) -> Void) {
        domain.read { [container] store in
            (
                try Recount(of: store, container: container),
                try container == nil ? QuickCheck(of: store) : nil
            )
        } then: { [self] result in
            guard isWanted() else { return }
            switch result {
            case .failure(let error): done(.unreadable(error))
            case .success((let recount, let quick)):
                if let quick { run(quick) }
                read(recount, done)
            }
        }
    }

    /// Calls back once SQLite's check of the file has ended.
    func whenChecked(_ body: @escaping () -> Void) {
        if isChecking { waiting = body } else { body() }
    }

    /// Returns what was found in a component, and forgets it.
    func take(_ container: String, _ component: String) -> Found? {
        components.removeValue(forKey: ComponentPath(container: container, component: component))
    }

    /// The findings in the components not taken yet that have, or should have, records.
    var rest: [(path: ComponentPath, found: Found)] {
        components.filter { $0.value.records > 0 || $0.value.difference != nil }
            .map { ($0.key, $0.value) }
            .sorted { ($0.0.container, $0.0.component) < ($1.0.container, $1.0.component) }
    }

    /// Interrupts SQLite's check when the verification is no longer wanted.
    func end() { quick?.interrupt() }

    private func run(_ quick: QuickCheck) {
        self.quick = quick
        isChecking = true
        let done = NIOLoopBound(
            { [self] (lines: [String]?) in
                self.lines = lines
                self.quick = nil
                isChecking = false
                let body = waiting
                waiting = nil
                if isWanted() { body?() }
            }, eventLoop: domain.loop)
        let loop = domain.loop
        // On its own queue, because other reads wait for the thread for reading.
        DispatchQueue(label: "atrium.store.check", qos: .utility).async {
            let lines = try? quick.run()
            loop.execute { done.value(lines) }
        }
    }

    private func read(_ recount: Recount, _ done: @escaping (HostError?) -> Void) {
        domain.read { _ in
            try recount.next()
        } then: { [self] result in
            guard isWanted() else { return }
            switch result {
            case .failure(let error): done(.unreadable(error))
            case .success(nil): done(nil)
            case .success(let slice?):
                add(slice)
                read(recount, done)
            }
        }
    }

    private func add(_ slice: RecountSlice) {
        guard let component = slice.component else {
            entries.records += slice.rows
            for sequence in slice.damaged { entries.damaged.add(sequence, "") }
            missingEntries += slice.missing
            problems += slice.problems
            return progress(ComponentPath(container: "", component: ""), entries.records)
        }
        let path = ComponentPath(container: slice.container, component: component)
        var found = components[path] ?? Found()
        found.records += slice.rows
        for key in slice.damaged { found.damaged.add(key, "") }
        found.difference = slice.difference
        components[path] = found
        progress(path, found.records)
    }
}
