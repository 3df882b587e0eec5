import Dispatch
import NIOCore
import Store

/// Recounts the store's rows, slice by slice, and meanwhile has SQLite look at the file.
final class StoreCheck {
    /// What was found of a component's records.
    struct Found {
        var records = 0
        /// The records that are not what was written.
        var damaged = FoundKeys()
        /// How the component differs from what it counted itself.
        var difference: RecordDifference?
    }

    /// Whose records.
    struct Place: Hashable {
        var container: String
        var component: String
    }

    private var components: [Place: Found] = [:]
    /// Of the log's entries those that are not what was written.
    private(set) var entries = Found()
    /// How many are missing.
    private(set) var missingEntries = 0
    /// What is wrong with rows that say where the others belong.
    private(set) var problems: [String] = []
    /// What SQLite says of the file; nil: it was not asked.
    private(set) var lines: [String]?

    /// Told what is read.
    var progress: (_ place: Place, _ records: Int) -> Void = { _, _ in }

    private let domain: Domain
    private let container: String?
    private let isWanted: () -> Bool
    private var quick: QuickCheck?
    private var isChecking = false
    private var waiting: (() -> Void)?

    /// A check of one container's records; nil: of all, the log and the file.
    init(of container: String?, in domain: Domain, while isWanted: @escaping () -> Bool) {
        self.container = container
        self.domain = domain
        self.isWanted = isWanted
    }

    /// Recounts the rows.
    ///
    /// - Parameter done: called at the end, with why they can't be read; not called once nobody wants to
    ///   know any more.
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
                if let quick { look(quick) }
                read(recount, done)
            }
        }
    }

    /// Goes on once SQLite has looked at the file.
    func whenLooked(_ body: @escaping () -> Void) {
        if isChecking { waiting = body } else { body() }
    }

    /// What was found of a component, which is asked for once.
    func take(_ container: String, _ component: String) -> Found? {
        components.removeValue(forKey: Place(container: container, component: component))
    }

    /// What was found of others that have records, or had some that are gone.
    var rest: [(place: Place, found: Found)] {
        components.filter { $0.value.records > 0 || $0.value.difference != nil }
            .map { ($0.key, $0.value) }
            .sorted { ($0.0.container, $0.0.component) < ($1.0.container, $1.0.component) }
    }

    /// Nobody wants to know any more.
    func end() { quick?.interrupt() }

    private func look(_ quick: QuickCheck) {
        self.quick = quick
        isChecking = true
        let told = NIOLoopBound(
            { [self] (lines: [String]?) in
                self.lines = lines
                self.quick = nil
                isChecking = false
                let body = waiting
                waiting = nil
                if isWanted() { body?() }
            }, eventLoop: domain.loop)
        let loop = domain.loop
        // On a thread of its own: the one for reading serves others.
        DispatchQueue(label: "atrium.store.check", qos: .utility).async {
            let lines = try? quick.run()
            loop.execute { told.value(lines) }
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
                take(slice)
                read(recount, done)
            }
        }
    }

    private func take(_ slice: RecountSlice) {
        guard let component = slice.component else {
            entries.records += slice.rows
            for sequence in slice.damaged { entries.damaged.add(sequence, "") }
            missingEntries += slice.missing
            problems += slice.problems
            return progress(Place(container: "", component: ""), entries.records)
        }
        let place = Place(container: slice.container, component: component)
        var found = components[place] ?? Found()
        found.records += slice.rows
        for key in slice.damaged { found.damaged.add(key, "") }
        found.difference = slice.difference
        components[place] = found
        progress(place, found.records)
    }
}
