import AtriumKit
import Store

/// A component that is being verified: whether it is still there, and its moments.
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

    /// Whether somebody wants to know.
    var isWanted: Bool { verification.isWanted }

    /// Where its records are.
    var address: RecordAddress {
        RecordAddress(container: container.name, component: slot.name)
    }

    /// Why what is shown of it can't be compared at present; nil: it can.
    var absence: HostError? {
        guard container.slot(slot.name) === slot else {
            return slot.unavailable("It was changed while it was verified: verify it again.")
        }
        return slot.isAttached ? nil : slot.absence
    }

    /// Takes a moment of the store at which all that is shown of the component is what it holds: nothing
    /// is written to it until ``release()`` is called, which only must follow a success.
    ///
    /// - Parameter body: not called once nobody wants to know any more.
    func atOneMoment(_ body: @escaping (Result<Snapshot, HostError>) -> Void) {
        container.gate([slot.name]) { [self] in
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
        }
    }

    /// Lets commands on.
    func release() { container.open([slot.name]) }

    /// An item as its list has it, and whether the list agrees with the item, its votes and comments; nil
    /// when there is none.
    func itemFact(_ id: String) -> ItemFact? {
        guard let list = slot.list, var fact = list.fact(of: id) else { return nil }
        fact.isIndexed = fact.isIndexed && container.hasDerived(id, in: list)
        return fact
    }
}
