import AtriumKit

// A container as the store holds it, at the start.
extension Container {
    /// A container whose components are not started yet.
    convenience init(restoring record: DefinitionRecord, domain: Domain) {
        self.init(name: record.live.name, domain: domain)
        definition = record.live
        applied = record.applied
        remains = record.remains
        isLoading = true
        slots = record.live.components.map {
            Slot($0, kind: record.kinds[$0.name], of: self, fields: record.live.fields)
        }
        rewire()
        followScopes()
    }

    /// Starts all components.
    ///
    /// - Parameter done: called once each is attached or has failed.
    func load(_ done: @escaping () -> Void) {
        var outstanding = slots.count
        let finish = { [self] in
            isLoading = false
            done()
        }
        guard outstanding > 0 else { return finish() }
        for slot in slots {
            slot.startUntilAttached {
                outstanding -= 1
                if outstanding == 0 { finish() }
            }
        }
    }

    /// Whether nothing that was accepted is unfinished.
    var isQuiet: Bool {
        lane.isEmpty && slots.allSatisfy { $0.isIdle && ($0.waitingCount == 0 || !$0.isAttached) }
    }
}
