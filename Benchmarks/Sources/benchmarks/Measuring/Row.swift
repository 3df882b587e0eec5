import JSONCodec

/// One figure of ours, and the peer's of the same run beside it.
struct Row {
    /// What a figure counts in.
    enum Unit: String {
        case microseconds = "us"
        case milliseconds = "ms"
        case seconds = "s"
        case perSecond = "/s"
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
    /// How many times as fast as the peer we want to be.
    var aim: Double?

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
        if let aim { members.append(.init("aim", .double(aim))) }
        return .object(members)
    }
}
