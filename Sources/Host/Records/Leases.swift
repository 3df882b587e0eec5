import NIOCore

/// Keeps what clients read part by part, and ends what is no longer read.
///
/// Each holds a snapshot or a copy of the store. So one of which no part was requested for a minute or two is ended: its
/// reader disappeared without closing it.
final class Leases<Reading> {
    private struct Lease {
        let reading: Reading
        /// Whether a part was requested since the last check.
        var isFollowed = true
        /// Whether a part is being read.
        var isBusy = false
    }

    private let domain: Domain
    private let cancel: (Reading) -> Void
    private var leases: [UInt64: Lease] = [:]
    private var last: UInt64 = 0
    /// Whether the periodic check is running.
    private var isWatched = false

    /// Creates an empty table; `cancel` is called with each reading that ends.
    init(in domain: Domain, cancel: @escaping (Reading) -> Void = { _ in }) {
        (self.domain, self.cancel) = (domain, cancel)
    }

    var count: Int { leases.count }

    /// Adds a reading, and returns its number.
    func add(_ reading: Reading) -> UInt64 {
        last += 1
        leases[last] = Lease(reading: reading)
        watch()
        return last
    }

    /// Renews a lease while a part is being read, until ``rest(_:)``; returns nil if it has ended.
    func renew(_ number: UInt64) -> Reading? {
        leases[number]?.isFollowed = true
        leases[number]?.isBusy = true
        return leases[number]?.reading
    }

    /// Records that a part was read, and the next one is not requested yet.
    func rest(_ number: UInt64) { leases[number]?.isBusy = false }

    /// Ends a reading; does nothing when it has ended.
    func end(_ number: UInt64) {
        if let lease = leases.removeValue(forKey: number) { cancel(lease.reading) }
    }

    func endAll() {
        for number in leases.keys { end(number) }
    }

    /// Ends the readings of which no part was requested since the last call.
    func endUnused() {
        for (number, lease) in leases where !lease.isBusy {
            if !lease.isFollowed { end(number) }
            leases[number]?.isFollowed = false
        }
    }

    /// Checks every minute while there are any.
    private func watch() {
        guard !isWatched, !leases.isEmpty else { return }
        isWatched = true
        domain.timers.after(.seconds(60)) { [self] in
            endUnused()
            isWatched = false
            watch()
        }
    }
}
