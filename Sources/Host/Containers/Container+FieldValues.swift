import AtriumKit
import Index

// Field values for the filters components that observe them.
extension Container {
    /// Sends a filters component the values of the fields that it observes, if they have changed.
    ///
    /// - Parameters:
    ///   - slot: the component's slot.
    ///   - done: called once they were sent; synchronously if no search is necessary.
    func report(to slot: Slot, then done: @escaping () -> Void) {
        guard slot.isAttached, let port = slot.port, let filters = slot.own.filters,
            !port.observedFields.isEmpty
        else { return done() }
        let (lists, limit) = (slots.compactMap(\.list), domain.limits.facetValues)
        guard filters.reported != valuesVersion(of: port.observedFields) else { return done() }
        guard filters.whenReported(done) else { return }
        var searches = port.observedFields.flatMap { field in
            lists.compactMap { $0.search(valuesOf: field, atMost: limit) }
        }
        guard !searches.isEmpty else { return reportFound(to: slot) }
        domain.inSlices {
            if searches.last?.step() == false { searches.removeLast() }
            return !searches.isEmpty
        } then: { [self] in
            reportFound(to: slot)
        }
    }

    /// Sends a filters component the values that were found, and runs what waits for that.
    private func reportFound(to slot: Slot) {
        if slot.isAttached, let port = slot.port { report(to: slot, port) }
        domain.inSlices(slot.own.filters?.takeWaiting() ?? [])
    }

    private func report(to slot: Slot, _ port: any ComponentPort) {
        let (lists, limit) = (slots.compactMap(\.list), domain.limits.facetValues)
        var counts: [String: Int] = [:]
        for field in port.observedFields {
            let all = lists.map { $0.valueCount(of: field) }.filter { $0 > 0 }
            // Two lists may have values in common, so their counts can't be added.
            if all.count == 1 { counts[field] = all[0] }
        }
        slot.own.filters?.report(valuesVersion(of: port.observedFields), counts: counts)
        var values: [String: [Value]] = [:]
        var cut: Set<String> = []
        for field in port.observedFields {
            let found = lists.distinctValues(of: field, atMost: limit)
            values[field] = found.values
            if found.isCut
                || lists.contains(where: { $0.hasValues(of: field, beyond: limit) })
            {
                cut.insert(field)
            }
        }
        port.report(values, cut: cut)
    }

    private func valuesVersion(of fields: [String]) -> UInt64 {
        let (lists, limit) = (slots.compactMap(\.list), domain.limits.facetValues)
        return lists.reduce(UInt64(lists.count &* 31 &+ limit)) {
            $0 &* 31 &+ $1.valuesVersion(of: fields, atMost: limit)
        }
    }
}

extension [ContentIndex] {
    /// The distinct values of a field in all lists, sorted, and whether there are more than `limit`.
    ///
    /// If there are more, those of the first lists are returned.
    func distinctValues(
        of field: String, atMost limit: Int
    ) -> (values: [Value], isCut: Bool) {
        let found = map { $0.distinctValues(of: field, atMost: limit) }.filter { !$0.isEmpty }
        guard found.count > 1 else { return (found.first ?? [], false) }
        var seen: Set<Value> = []
        let values = found.joined().filter { seen.insert($0).inserted }
        let some = [Value](values.prefix(limit))
        return (first?.sorted(some, of: field) ?? some, values.count > limit)
    }
}
