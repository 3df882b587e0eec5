import AtriumKit
import Index
import Store

/// Verifies one component: reads its records and compares them with what is shown.
final class ComponentCheck {
    /// The findings in the component.
    struct Outcome {
        var records = 0
        /// Why nothing was compared; nil: it was.
        var skipped: String?
        var unreadable = FoundKeys()
        /// The differences, by the noun used for them in a sentence.
        var shown: [(noun: Noun, found: FoundKeys)] = []
    }

    /// A kind of thing that a component shows, named as in a sentence.
    enum Noun: String {
        case item, tally, comment, count, order
    }

    let check: CheckedSlot
    /// Called with the number of records that were read.
    private let progress: (_ more: Int) -> Void
    private var outcome = Outcome()
    private var done: ((Outcome) -> Void)?

    init(_ check: CheckedSlot, progress: @escaping (_ more: Int) -> Void) {
        self.check = check
        self.progress = progress
    }

    private var slot: Slot { check.slot }

    /// Verifies the component; `done` is not called once the verification is no longer wanted.
    func run(_ done: @escaping (Outcome) -> Void) {
        self.done = done
        if let reason = obstacle { return readWithoutComparing(because: reason) }
        check.atOneMoment { [self] moment in
            switch moment {
            case .failure(let error): readWithoutComparing(because: error.sentence)
            case .success(let snapshot):
                let count = shownCount
                check.release()
                compare(in: snapshot, shownCount: count)
            }
        }
    }

    /// Why what is shown may differ from what the store holds; nil: it must be the same.
    private var obstacle: String? {
        if type(of: check.container.delegate) != ContainerDelegate.self {
            return "A delegate of the container decides what is shown."
        }
        if slot.own.contents?.listsItsRecords == false {
            return "Its items are not just what its records say."
        }
        return check.absence?.sentence
    }

    /// The number of items or subjects shown.
    private var shownCount: Int {
        switch slot.own {
        case .contents(let contents): contents.list.count
        case .votes(let votes): votes.tallies.count
        case .comments(let comments): comments.counts.count
        case .filters, .unknown: 0
        }
    }

    private func end() {
        let done = done
        self.done = nil
        done?(outcome)
    }

    private func end(_ error: HostError?) {
        outcome.skipped = error?.sentence ?? outcome.skipped
        end()
    }

    private func readWithoutComparing(because reason: String) {
        outcome.skipped = reason
        check.domain.read {
            try $0.snapshot()
        } then: { [self] result in
            guard check.isWanted else { return }
            switch result {
            case .failure(let error): end(.unreadable(error))
            case .success(let snapshot):
                let source = RecordFacts<ItemFact>(check.address)
                run(comparison(source, in: snapshot, shown: nil) { _, _, _ in "" }) { [self] in
                    end($1)
                }
            }
        }
    }

    private func compare(in snapshot: Snapshot, shownCount: Int) {
        switch slot.kind {
        case .contents: compareItems(in: snapshot, shownCount)
        case .votes: compareTallies(in: snapshot, shownCount)
        case .comments: compareComments(in: snapshot, shownCount)
        default: end()
        }
    }

    private func comparison<Source: FactSource>(
        _ source: Source, in snapshot: Snapshot, shown: FactComparison<Source>.Shown?,
        describe: @escaping (String, Source.Fact?, Source.Fact?) -> String
    ) -> FactComparison<Source> {
        let comparison = FactComparison(
            source, in: snapshot, of: check, shown: shown, describe: describe)
        comparison.progress = { [self] more in
            outcome.records += more
            progress(more)
        }
        return comparison
    }

    /// Runs a comparison, and keeps what it found in the records.
    private func run<Source: FactSource>(
        _ comparison: FactComparison<Source>,
        then: @escaping (FactComparison<Source>, HostError?) -> Void
    ) {
        comparison.run { [self] error in
            outcome.unreadable = comparison.unreadable
            then(comparison, error)
        }
    }

    private func add(_ noun: Noun, _ found: FoundKeys) {
        if found.count > 0 { outcome.shown.append((noun, found)) }
    }

    /// Reports things shown that are not in the store and have not been named yet.
    private func add(_ noun: Noun, beyond count: Int) {
        guard count > 0 else { return }
        var found = FoundKeys()
        for _ in 0..<count { found.add("", "the store has no records of it") }
        add(noun, found)
    }
}

// MARK: Kinds

extension ComponentCheck {
    private func compareItems(in snapshot: Snapshot, _ shownCount: Int) {
        let shown: FactComparison<RecordFacts<ItemFact>>.Shown = { [check] keys, _, answer in
            answer(.success(keys.map(check.itemFact)))
        }
        let source = RecordFacts<ItemFact>(check.address)
        let describe: (String, ItemFact?, ItemFact?) -> String = { key, stored, shown in
            switch (stored, shown) {
            case (nil, _): "'\(key)' is shown, and the store does not hold it"
            case (_, nil): "'\(key)' is in the store, and not shown"
            case (_, let shown?):
                shown.isIndexed
                    ? "'\(key)' is shown with other values than the store holds"
                    : "'\(key)' is not found by its own values"
            }
        }
        run(comparison(source, in: snapshot, shown: shown, describe: describe)) {
            [self] items, error in
            add(.item, items.differences)
            if let error { return end(error) }
            let isMore = shownCount > items.facts - items.notShown + items.unreadable.count
            searchUnstored(isMore, source, in: snapshot, shown, describe) { [self] in
                checkOrders()
            }
        }
    }

    /// Checks every shown item, if some are shown that the store does not hold.
    private func searchUnstored(
        _ isNeeded: Bool, _ source: RecordFacts<ItemFact>, in snapshot: Snapshot,
        _ shown: @escaping FactComparison<RecordFacts<ItemFact>>.Shown,
        _ describe: @escaping (String, ItemFact?, ItemFact?) -> String,
        from row: Int = 0, then done: @escaping () -> Void
    ) {
        guard isNeeded, let list = slot.list, row < list.rowCount else { return done() }
        let end = min(row + 256, list.rowCount)
        let ids = list.ids(inRows: row..<end)
        check.domain.read { _ in
            var known: Set<String> = []
            let source = source.only(ids)
            while true {
                let slice = try source.next(in: snapshot)
                known.formUnion(slice.facts.map(\.key))
                if slice.isEnd { return known }
            }
        } then: { [self] result in
            guard check.isWanted else { return }
            guard case .success(let known) = result else { return done() }
            let again = comparison(source, in: snapshot, shown: shown, describe: describe)
            again.addSuspects(ids.filter { !known.contains($0) }) { [self] error in
                add(.item, again.differences)
                if let error { return self.end(error) }
                searchUnstored(true, source, in: snapshot, shown, describe, from: end, then: done)
            }
        }
    }

    private func checkOrders() {
        guard let list = slot.list else { return end() }
        let orders = IndexCheck(list)
        check.domain.slices.run { [self] in
            check.isWanted && slot.list === list && orders.step()
        } then: { [self] in
            guard check.isWanted else { return }
            var found = FoundKeys()
            for problem in orders.problems { found.add(problem.column, problem.detail) }
            add(.order, found)
            end()
        }
    }

    private func compareTallies(in snapshot: Snapshot, _ shownCount: Int) {
        let source = TallyFacts(check.address)
        run(
            comparison(source, in: snapshot) { [slot] keys, _, answer in
                answer(
                    .success(
                        keys.map { TallyFact(slot.tally(of: Subject(item: $0.isEmpty ? nil : $0))) }
                    ))
            } describe: { key, stored, shown in
                let name = key.isEmpty ? "the container" : "'\(key)'"
                return "\(name) is shown with \(shown.ballots), where the store holds "
                    + (stored?.count == shown?.count ? "others" : stored.ballots)
            }
        ) { [self] tallies, error in
            add(.tally, tallies.differences)
            if error == nil, tallies.unreadable.count == 0 {
                add(.tally, beyond: shownCount - tallies.facts + tallies.notShown)
            }
            end(error)
        }
    }

    private func compareComments(in snapshot: Snapshot, _ shownCount: Int) {
        let source = RecordFacts<CommentFact>(check.address)
        run(
            comparison(source, in: snapshot) { [slot] keys, passesGate, answer in
                CommentAnswers(keys, of: slot, passesGate, answer).ask()
            } describe: { key, stored, shown in
                switch (stored, shown) {
                case (nil, _): "'\(key)' is shown, and the store does not hold it"
                case (_, nil): "'\(key)' is in the store, and not shown"
                default: "'\(key)' is shown otherwise than the store holds it"
                }
            }
        ) { [self] comments, error in
            add(.comment, comments.differences)
            if let error { return end(error) }
            let shares = 1 + shownCount / CountFacts.subjects
            compareCounts(in: snapshot, shownCount, CountFacts.Share(number: 0, count: shares))
        }
    }

    private func compareCounts(
        in snapshot: Snapshot, _ shownCount: Int, _ share: CountFacts.Share, known: Int = 0
    ) {
        guard share.number < share.count else {
            if outcome.unreadable.count == 0 { add(.count, beyond: shownCount - known) }
            return end()
        }
        let records = outcome.records
        let counts = comparison(CountFacts(check.address, share), in: snapshot) {
            [slot] keys, passesGate, answer in
            ThreadAnswers(keys, of: slot, passesGate, answer).ask()
        } describe: { key, stored, shown in
            let name = key.isEmpty ? "the container" : "'\(key)'"
            if shown?.isOrdered == false { return "the comments on \(name) are out of order" }
            return "\(name) is shown with \(shown?.count ?? 0) comments, where the store holds "
                + "\(stored?.count ?? 0)"
        }
        run(counts) { [self] counts, error in
            // The records were already counted by an earlier comparison.
            outcome.records = records
            add(.count, counts.differences)
            if let error { return end(error) }
            compareCounts(
                in: snapshot, shownCount,
                CountFacts.Share(number: share.number + 1, count: share.count),
                known: known + counts.facts - counts.notShown)
        }
    }
}

extension TallyFact? {
    fileprivate var ballots: String {
        let count = self?.count ?? 0
        return "\(count) ballot\(count == 1 ? "" : "s")"
    }
}
