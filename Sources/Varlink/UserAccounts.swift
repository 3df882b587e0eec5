/// What each user's connections use up, so that a limit can be laid on all of them together.
struct UserAccounts {
    private var accounts: [UInt32: Account] = [:]

    private struct Account {
        var connections = 0
        var bytes = 0
    }

    /// Whether nobody uses anything.
    var isEmpty: Bool { accounts.isEmpty }

    /// Connections of a user.
    func connections(of uid: UInt32) -> Int { accounts[uid]?.connections ?? 0 }

    /// Takes in a connection.
    mutating func open(_ uid: UInt32) {
        accounts[uid, default: Account()].connections += 1
    }

    /// Lets go of a connection, and of the bytes that it is charged with.
    mutating func close(_ uid: UInt32, bytes: Int) {
        guard var account = accounts[uid] else { return }
        account.connections -= 1
        account.bytes -= bytes
        accounts[uid] = account.connections > 0 ? account : nil
    }

    /// Charges bytes, or takes them back.
    ///
    /// - Returns: What all connections of the user are charged with now.
    mutating func charge(_ bytes: Int, to uid: UInt32) -> Int {
        accounts[uid, default: Account()].bytes += bytes
        return accounts[uid]?.bytes ?? 0
    }
}
