import AtriumKit

// The reader's own ballots, which no two screens need have in common.
extension Screen {
    /// Whether the ballots on all that is in sight are known; those of before are.
    func knowsBallots(_ change: ViewChange, _ base: Frame?) -> Bool {
        guard let ballots else { return true }
        guard let base, base.generation == ballots.generation else {
            let items = view?.state.lists.flatMap { $0.items.map { Subject.item($0.row.id) } }
            return ballots.knows((items ?? []) + [choices.subject])
        }
        let new = change.newItems.map(Subject.item)
        return ballots.knows(new + [choices.subject])
    }

    func mine(in state: ViewState) -> [String: Double] {
        ballots?.mine(in: state) ?? [:]
    }

    /// The lists with the reader's ballots in them; nil when there are none in what changed.
    func ownLists(
        _ frame: Frame, _ base: Frame?, _ change: ViewChange
    ) -> OwnChange? {
        let before = base?.mine ?? [:]
        guard let ballots, !frame.mine.isEmpty || !before.isEmpty else { return nil }
        let key = OwnKey(
            from: base?.view.number, to: frame.view.number, before: before, mine: frame.mine)
        return ballots.change(key) { ownLists(frame, before, change) }
    }

    private func ownLists(
        _ frame: Frame, _ before: [String: Double], _ change: ViewChange
    ) -> [ListChange<ItemView>] {
        frame.view.lists.compactMap { list in
            let shared = change.lists.first { $0.component == list.component }
            var edits = (shared?.edits ?? []).map { edit in
                edit.map { $0.voted(frame.mine[$0.id]) }
            }
            var told: Set<String> = []
            for edit in edits {
                switch edit {
                case .insert(let item, _), .update(let item, _): told.insert(item.id)
                case .remove, .move: break
                }
            }
            for (place, item) in list.items.enumerated() {
                let id = item.row.id
                guard frame.mine[id] != before[id], !told.contains(id) else { continue }
                edits.append(.update(item.view.voted(frame.mine[id]), at: place))
            }
            guard shared != nil || !edits.isEmpty else { return nil }
            return ListChange(
                component: list.component, total: list.total, edits: edits)
        }
    }
}

extension ItemView {
    /// The item with somebody's ballot.
    fileprivate func voted(_ value: Double?) -> ItemView {
        var view = self
        view.votes?.mine = value
        return view
    }
}
