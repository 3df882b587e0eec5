import JSONCodec

/// A client that votes, changes its mind each time round its items, and waits for every reply.
final class Voter {
    let connection: Connection
    private let items: [String]
    private var votes = 0

    /// Makes a voter with items of its own, so that no two touch the same ballot.
    init(_ connection: Connection, items: [String]) {
        self.connection = connection
        self.items = items
    }

    /// Casts the next vote, which differs from the one before on the same item.
    func cast() throws {
        let item = items[votes % items.count]
        let value = votes / items.count % 5 + 1
        votes += 1
        try connection.send(
            Frame.call(
                "org.atrium.Votes.Cast",
                [
                    "container": .string(Workbench.container), "item": .string(item),
                    "value": .int(Int64(value)),
                ]))
    }
}
