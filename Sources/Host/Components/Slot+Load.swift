import AtriumKit
import Index
import Logging
import NIOCore
import Store

// Loading a component: its records are read and decoded on a thread, and meanwhile passed to the component and put
// into a list.
extension Slot {
    func load(_ attempt: Int) {
        progress.read(at: domain.nextTicket())
        // The load finds damage in the store again, so what is known of it is forgotten.
        damage.beginLoading()
        guard kind == .contents, port?.listsRecords == true else { return loadEach(attempt) }
        let (container, component, fields) = (containerName, name, fields)
        let count = domain.recordsRead
        domain.read { store in
            Handover(
                value: try RecordLoad.read(
                    container, component, fields: fields, in: store, count: count))
        } then: { [weak self] result in
            guard let self, start == attempt else { return }
            switch result {
            case .failure(let error): failStart(because: "Its records can't be read: \(error)")
            case .success(let load): takeOver(load.value, attempt)
            }
        }
    }

    /// Uses a list that is made of records, and passes its items to the component.
    private func takeOver(_ load: RecordLoad?, _ attempt: Int) {
        // Not every record is an item: the component itself has to interpret them.
        guard let load, let port, let container else { return loadEach(attempt) }
        port.load(load.items)
        own.contents?.load(load.list, listsItsRecords: true)
        note(load.unreadable, load.unfit, in: load.list)
        let isWanted = { self.start == attempt }
        container.fillDerived(load.list, while: isWanted) {
            self.endLoading(Loaded(items: load.items))
        }
    }

    /// Reports unreadable records and unfit items in the component's status and in the log.
    private func note(
        _ unreadable: UnreadableRecords, _ unfit: UnfitItems, in list: ContentIndex?
    ) {
        damage.loaded(without: unreadable)
        note(unfit, in: list)
        guard let problem = unreadable.problem else { return }
        domain.logger.error(
            "a component's records can't be read", metadata: logFields(["reason": "It \(problem)."])
        )
    }

    private func note(_ unfit: UnfitItems, in list: ContentIndex?) {
        own.contents?.note(unfit)
        guard let problem = unfit.problem(in: list, FieldChecker(fields: fields)) else { return }
        domain.logger.warning(
            "items don't fit the fields", metadata: logFields(["reason": "It \(problem)."]))
    }

    private func endLoading(_ loaded: Loaded) {
        prepared(loaded)
        progress.takeDone()?(nil)
    }

    private func loadEach(_ attempt: Int) {
        let list = kind == .contents ? ContentIndex(fields: fields) : nil
        SlicedLoad(list, of: self, attempt).run { [weak self] loading, problem in
            guard let self else { return }
            if let problem { return failStart(because: "Its records can't be read: \(problem)") }
            if start == attempt {
                note(loading.unreadable, loading.unfit, in: loading.list)
            }
            finishLoading(attempt, loading)
        }
    }

    private func finishLoading(_ attempt: Int, _ loading: SlicedLoad) {
        guard start == attempt, let port else { return }
        let state = LoadReports()
        awaitComponent()
        port.reportAll(in: domain) { [weak self] part in
            guard let self, start == attempt else { return false }
            state.reported.take(part.events)
            // Each part is progress, and more may follow.
            awaitComponent()
            return true
        } then: { [weak self] failure in
            guard let self, start == attempt else { return }
            endAwaiting()
            switch failure {
            case .died(let reason): failStart(because: reason)
            case .refused(let refusal): failStart(because: refusal.reason)
            case nil where kind == .contents && state.reported.items == nil:
                // The source is still loading, and will report its items later.
                endLoading(Loaded(state: state.reported))
            case nil:
                fillList(state.reported.items ?? Pieces(), attempt, loading) {
                    self.endLoading(Loaded(state: state.reported))
                }
            }
        }
    }

    /// Fills a new list with the component's items, if it has any.
    private func fillList(
        _ items: Pieces<Item>, _ attempt: Int, _ loading: SlicedLoad,
        then done: @escaping () -> Void
    ) {
        guard let made = loading.list, let contents = own.contents, let container else {
            return done()
        }
        let isWanted = { self.start == attempt }
        loading.compare(items, in: domain, while: isWanted) { isSame in
            guard !isSame else {
                contents.load(made, listsItsRecords: true)
                return container.fillDerived(made, while: isWanted, then: done)
            }
            let list = ContentIndex(fields: self.fields)
            contents.load(list, listsItsRecords: false)
            self.fill(list, with: items, attempt, loading) {
                container.fillDerived(list, while: isWanted, then: done)
            }
        }
    }

    /// Fills the list of a source whose items are not exactly its records.
    private func fill(
        _ list: ContentIndex, with items: Pieces<Item>, _ attempt: Int, _ loading: SlicedLoad,
        then done: @escaping () -> Void
    ) {
        let checker = FieldChecker(fields: fields)
        var next = 0
        var unfit = UnfitItems(areLeftOut: true)
        domain.inSlices {
            guard self.start == attempt, next < items.count else { return false }
            let end = min(next + 64, items.count)
            let fitting = items[next..<end].filter { item in
                guard let problem = checker.check(item) else { return true }
                unfit.add(problem)
                return false
            }
            list.put(fitting.map { ($0, self.domain.sequence) })
            next = end
            return true
        } then: {
            if self.start == attempt { self.note(unfit, in: list) }
            loading.setRevisions(of: list, in: self.domain, while: { self.start == attempt }) {
                if self.start == attempt { done() }
            }
        }
    }
}

/// Collects the state that a component reports, part by part.
private final class LoadReports {
    var reported = LoadedState()
}

extension ComponentPort {
    /// Asks the component for all of its state, one part per slice.
    ///
    /// - Parameters:
    ///   - anew: whether to start from the beginning.
    ///   - domain: the domain whose slices are used.
    ///   - part: called with each part; returns false to stop.
    ///   - done: called after the last part, or with the failure.
    func reportAll(
        anew: Bool = true, in domain: Domain, each part: @escaping (StatePart) -> Bool,
        then done: @escaping (PortFailure?) -> Void
    ) {
        reportState(anew: anew) { [weak self] result in
            switch result {
            case .failure(let failure): done(failure)
            case .success(let reported):
                guard part(reported), !reported.isLast else { return done(nil) }
                domain.inSlices {
                    false
                } then: {
                    self?.reportAll(anew: false, in: domain, each: part, then: done)
                }
            }
        }
    }
}

/// A value that one thread made and passes to another.
///
/// Unchecked: the first thread does not keep it.
private struct Handover<T>: @unchecked Sendable {
    let value: T
}
