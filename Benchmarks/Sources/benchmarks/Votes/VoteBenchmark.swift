import Foundation
import Glibc

/// Votes acknowledged a second, each of them on disk, beside how often the disk can sync.
struct VoteBenchmark {
    private static let clients = [1, 16, 50]
    private static let itemsEach = 97
    private static let rounds = 5
    /// Seconds of each figure in each round.
    private static let slice = 0.6

    let bench: Workbench

    /// Measures the disk and each number of clients in turn.
    func run() throws -> [Row] {
        let daemon = try bench.daemon()
        let ids = try bench.catalogue().items.map(\.id)
        let most = Self.clients.max() ?? 1
        guard ids.count >= most * Self.itemsEach else {
            throw BenchmarkError("\(ids.count) items are too few for \(most) voters")
        }
        let voters = try (0..<most).map { number in
            let start = number * Self.itemsEach
            return Voter(
                try daemon.connect(), items: Array(ids[start..<(start + Self.itemsEach)]))
        }
        let probe = try SyncProbe(file: bench.newDirectory().appending(path: "probe"))
        var syncs = Samples()
        var votes = Self.clients.map { _ in Samples() }
        for _ in 0..<Self.rounds {
            syncs.append(try Timing.rate(for: Self.slice) { try probe.sync() })
            for (place, count) in Self.clients.enumerated() {
                votes[place].append(try Self.rate(of: voters[..<count]))
            }
        }
        return zip(Self.clients, votes).map { count, votes in
            Row(
                benchmark: "votes", name: "\(count) client\(count == 1 ? "" : "s")",
                unit: .perSecond, ours: votes.median,
                peer: .init(name: "fdatasync, one after the other", value: syncs.median))
        }
    }

    /// Has each voter vote as soon as its last vote was acknowledged.
    private static func rate(of voters: ArraySlice<Voter>) throws -> Double {
        var polled = voters.map {
            pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0)
        }
        let clock = ContinuousClock()
        let start = clock.now
        var acknowledged = 0
        var elapsed = 0.0
        for voter in voters { try voter.cast() }
        while elapsed < slice {
            guard poll(&polled, nfds_t(polled.count), 10_000) > 0 else {
                throw BenchmarkError("no vote was acknowledged in ten seconds")
            }
            for (place, voter) in voters.enumerated() where polled[place].revents != 0 {
                try voter.connection.fill()
                guard let reply = voter.connection.nextBuffered() else { continue }
                try Frame.check(reply)
                acknowledged += 1
                try voter.cast()
            }
            elapsed = (clock.now - start).seconds
        }
        // Those still on their way belong to no figure.
        for voter in voters { try Frame.check(voter.connection.receive()) }
        return Double(acknowledged) / elapsed
    }
}
