/// The holder of a live query, which is notified when the query should advance.
package protocol LiveQueryHolder: AnyObject {
    /// Called when changes affect the query, which should then advance; called once until it has.
    func queryBecameStale()
}

/// A reader that is updated with the changes of an index.
protocol LiveReader: AnyObject {
    /// The owner, which calls `advance()` after changes.
    var holder: (any LiveQueryHolder)? { get }

    /// Changes of this part of the log affect it, and none before; false: it is stale already, or shows
    /// them.
    func markStale(from start: UInt64, to end: UInt64) -> Bool
}

/// The live queries of one index by the parts that they read, so that those that a change affects are found without
/// visiting the others.
///
/// A change affects a query that selects, counts or orders by the parts that changed, and a query that has the row in
/// sight. All other queries show the present state already.
package final class LiveQueries {
    private struct Member {
        unowned let query: any LiveReader
        let parts: UInt64
    }

    /// The queries that read the same parts of a row.
    private struct Group {
        var members = Postings()
        var upToDate = 0
    }

    private let table: RowTable
    private let log: ChangeLog
    /// The position in the log up to which the affected queries were found.
    private(set) var position: UInt64 = 0

    private var members: [Member?] = []
    private var free: [Int] = []
    private var groups: [UInt64: Group] = [:]
    /// The queries that have a row in sight, by row.
    private var knowing: [Int32: Postings] = [:]
    private var upToDate = 0

    init(_ table: RowTable, _ log: ChangeLog) { (self.table, self.log) = (table, log) }

    /// Adds a query whose answer is of the end of the log; returns its number.
    func join(_ query: any LiveReader, parts: ChangedParts) -> Int {
        if members.count == free.count { position = log.end }
        let number = free.popLast() ?? members.count
        if number == members.count { members.append(nil) }
        members[number] = Member(query: query, parts: parts.rawValue)
        groups[parts.rawValue, default: Group()].members.insert(number)
        groups[parts.rawValue]?.upToDate += 1
        upToDate += 1
        return number
    }

    /// A query is no more.
    func leave(_ number: Int, isStale: Bool, knowing rows: some Sequence<Int32>) {
        for row in rows { forget(row, by: number) }
        guard let member = members[number] else { return }
        members[number] = nil
        free.append(number)
        groups[member.parts]?.members.remove(number)
        if !isStale {
            upToDate -= 1
            groups[member.parts]?.upToDate -= 1
        }
        if groups[member.parts]?.members.count == 0 { groups[member.parts] = nil }
    }

    /// Records that a query has a row in sight, so that its changes affect the query.
    func know(_ row: Int32, by number: Int) { knowing[row, default: Postings()].insert(number) }

    /// A query does not know a row any more.
    func forget(_ row: Int32, by number: Int) {
        knowing[row]?.remove(number)
        if knowing[row]?.count == 0 { knowing[row] = nil }
    }

    /// A stale query was advanced.
    func advanced(_ number: Int) {
        guard let parts = members[number]?.parts else { return }
        upToDate += 1
        groups[parts]?.upToDate += 1
    }

    /// Calls the body with the holders of the queries that have an item in sight.
    package func visitHolders(knowing item: String, _ body: (any LiveQueryHolder) -> Void) {
        guard let row = table.row(of: item) else { return }
        knowing[Int32(row)]?.visit { number in
            if let holder = members[number]?.query.holder { body(holder) }
        }
    }
}

// MARK: Changes

extension LiveQueries {
    /// Finds the queries that at most so many next changes affect; returns whether there were any, false once all
    /// were processed.
    package func follow(atMost limit: Int = 64) -> Bool {
        guard position != log.end else { return false }
        guard upToDate > 0, log.count(since: position) != nil else {
            if upToDate > 0 {
                for number in members.indices { markStale(number, to: log.end) }
            }
            position = log.end
            return true
        }
        for change in log.entries(since: position, atMost: limit) {
            for (parts, group) in groups
            where group.upToDate > 0
                && !change.parts.isDisjoint(with: ChangedParts(rawValue: parts))
            {
                group.members.visit { markStale($0, to: position + 1) }
            }
            if upToDate > 0 {
                knowing[change.row]?.visit { markStale($0, to: position + 1) }
            }
            position += 1
        }
        return true
    }

    /// Marks a query that changes in the log, up to a position, affect, if it does not show them yet.
    private func markStale(_ number: Int, to end: UInt64) {
        guard let member = members[number], member.query.markStale(from: position, to: end)
        else { return }
        upToDate -= 1
        groups[member.parts]?.upToDate -= 1
        member.query.holder?.queryBecameStale()
    }
}
