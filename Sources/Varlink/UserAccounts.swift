/// The resources that each user's connections use, so that one limit applies to all of them together.
struct UserAccounts {
    private var accounts: [UInt32: Account] = [:]

    private struct Account {
        var connections = 0
        var bytes = 0
    }

    /// Whether no user is charged with anything.
    var isEmpty: Bool { accounts.isEmpty }

    /// The number of bytes that all users are charged with.
    var bytes: Int { accounts.values.reduce(0) { $0 + $1.bytes } }

    func connections(of uid: UInt32) -> Int { accounts[uid]?.connections ?? 0 }

    /// The number of bytes that a user is charged with.
    func bytes(of uid: UInt32) -> Int { accounts[uid]?.bytes ?? 0 }

    /// Adds a connection.
    mutating func open(_ uid: UInt32) { change(uid) { $0.connections += 1 } }

    /// Removes a connection; the bytes charged for it stay charged until they are refunded.
    mutating func close(_ uid: UInt32) { change(uid) { $0.connections -= 1 } }

    /// Charges bytes to a user, or refunds them if negative; returns what the user is charged with now.
    @discardableResult mutating func charge(_ bytes: Int, to uid: UInt32) -> Int {
        change(uid) { $0.bytes += bytes }
    }

    @discardableResult private mutating func change(
        _ uid: UInt32, _ body: (inout Account) -> Void
    ) -> Int {
        var account = accounts[uid] ?? Account()
        body(&account)
        accounts[uid] = account.connections > 0 || account.bytes > 0 ? account : nil
        return account.bytes
    }
}
