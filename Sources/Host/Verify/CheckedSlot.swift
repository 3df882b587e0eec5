import Store

/// A component being verified: whether it is still attached, and access to consistent snapshots of it.
final class CheckedSlot {
    let container: Container
    let slot: Slot
    private let verification: Verification

    init(_ slot: Slot, in container: Container, for verification: Verification) {
        self.slot = slot
        self.container = container
        self.verification = verification
    }

    var domain: Domain { container.domain }

    /// Whether the verification is still wanted.
    var isWanted: Bool { verification.isWanted }

    var address: RecordAddress {
        RecordAddress(container: container.name, component: slot.name)
    }

    /// Why it can't be compared now; nil: it can.
    var absence: HostError? {
        guard container.slot(slot.name) === slot else {
            return slot.unavailable("It was changed while it was verified: verify it again.")
        }
        return slot.isAttached ? nil : slot.absence
    }

    /// Takes a snapshot of the store at a moment when the component shows exactly what the store holds.
    ///
    /// After a success nothing is written to the component until ``release()`` is called. Don't call that after a
    /// failure.
    ///
    /// - Parameter body: receives the snapshot; not called once the verification is no longer wanted.
    func atOneMoment(_ body: @escaping (Result<Snapshot, HostError>) -> Void) {
        container.gates.close([slot.name]) { [self] in
            guard isWanted, absence == nil else {
                release()
                if isWanted, let absence { body(.failure(absence)) }
                return
            }
            domain.read {
                try $0.snapshot()
            } then: { [self] result in
                guard isWanted else { return release() }
                switch result {
                case .success(let snapshot): body(.success(snapshot))
                case .failure(let error):
                    release()
                    body(.failure(.unreadable(error)))
                }
            }
        } orElse: { [self] error in
            if isWanted { body(.failure(error)) }
        }
    }

    /// Opens the component's gate again.
    func release() { container.gates.open([slot.name]) }

    /// An item as its list has it; nil if there is none.
    ///
    /// The fact also says whether the list agrees with the item, its votes and its comments.
    func itemFact(_ id: String) -> ItemFact? {
        guard let list = slot.list, var fact = list.fact(of: id) else { return nil }
        fact.isIndexed = fact.isIndexed && container.derived.agree(on: id, in: list)
        return fact
    }
}
