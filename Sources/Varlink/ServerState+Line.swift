internal import NIOCore

// Connections whose calls wait in line for others to come first: see ``StartBudget``.
extension ServerState {
    /// Has a connection go on with its calls later: once the loop has polled, and after those that
    /// were put off before.
    func putOff(_ connection: Connection) {
        connection.isPutOff = true
        line.append(connection)
        nextPoll.run { [weak self] in self?.goOn() }
    }

    /// The loop has polled: connections that were put off go on, each as far as it may.
    private func goOn() {
        budget.renew()
        var count = line.count
        while count > 0, budget.isLeft, let connection = line.popFirst() {
            count -= 1
            connection.goOn()
        }
        if !line.isEmpty { nextPoll.run { [weak self] in self?.goOn() } }
    }
}
