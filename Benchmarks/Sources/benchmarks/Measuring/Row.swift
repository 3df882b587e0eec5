import JSONCodec

/// One figure of ours, and the peer's of the same run beside it.
struct Row {
    /// What a figure counts in.
    enum Unit: String {
        case microseconds = "us"
        case milliseconds = "ms"
        case seconds = "s"
        case perSecond = "/s"

        /// Whether more is better.
        var isRate: Bool { self == .perSecond }
    }

    /// What stands beside our figure.
    struct Peer {
        var name: String
        var value: Double
    }

    var benchmark: String
    var name: String
    var unit: Unit
    var ours: Double
    var peer: Peer?

    /// How many times as fast as the peer we are: above 1 we are faster.
    var ratio: Double? {
        guard let peer, peer.value > 0, ours > 0 else { return nil }
        return unit.isRate ? ours / peer.value : peer.value / ours
    }

    /// One line for programs.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("benchmark", .string(benchmark)), .init("case", .string(name)),
            .init("unit", .string(unit.rawValue)), .init("ours", .double(ours)),
        ]
        if let peer {
            members.append(.init("peer", .string(peer.name)))
            members.append(.init("peers", .double(peer.value)))
        }
        if let ratio { members.append(.init("ratio", .double(ratio))) }
        return .object(members)
    }
}
