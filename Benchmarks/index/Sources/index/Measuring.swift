import Glibc
import JSONCodec

@testable import Index

/// Processor time: neither side waits for anything, and what else the machine does is not told.
enum Timing {
    /// Milliseconds of this process.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }

    /// Milliseconds that `body` takes.
    static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now
        try body()
        return now - start
    }
}

extension [Double] {
    /// The middle one; 0 without any.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension ContentIndex {
    /// Makes the sort orders that queries have asked for.
    func makeOrders() {
        while orders.grow() {}
    }
}

/// Something of ours, and what stands beside it; both are run in turn.
struct Case {
    var name: String
    /// Gets the number of the round, lest anything be asked twice that is not to be.
    var ours: (Int) throws -> Void
    var peer: (name: String, run: (Int) throws -> Void)?

    /// Runs all cases in turn, over and over, and prints a line for each.
    ///
    /// After each round the orders that its queries have asked for are made, as the daemon does between its turns.
    static func measure(_ cases: [Case], in index: ContentIndex, rounds: Int) throws {
        var ours = [[Double]](repeating: [], count: cases.count)
        var peers = ours
        for round in -1..<rounds {
            for (place, one) in cases.enumerated() {
                let time = try Timing.milliseconds { try one.ours(round + 1) }
                let other = try one.peer.map { peer in
                    try Timing.milliseconds { try peer.run(round + 1) }
                }
                // The first round only warms up.
                guard round >= 0 else { continue }
                ours[place].append(time)
                if let other { peers[place].append(other) }
            }
            index.makeOrders()
        }
        for (place, one) in cases.enumerated() {
            report(
                one.name, "ms", ours[place].median,
                peer: one.peer.map { ($0.name, peers[place].median) })
        }
    }

    /// Prints a figure as a line of JSON.
    static func report(
        _ name: String, _ unit: String, _ ours: Double, peer: (name: String, value: Double)? = nil
    ) {
        var members: [JSONValue.Member] = [
            .init("benchmark", "index"), .init("case", .string(name)),
            .init("unit", .string(unit)), .init("ours", .double(ours)),
        ]
        if let peer {
            members.append(.init("peer", .string(peer.name)))
            members.append(.init("peers", .double(peer.value)))
        }
        print(String(decoding: JSON.encode(JSONValue.object(members)), as: UTF8.self))
    }
}
