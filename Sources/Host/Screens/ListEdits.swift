// Computes the edits from one window of a list to another.
extension ListEdit {
    /// The edits that turn one window into another, applied one after the other; each id occurs once in a window.
    ///
    /// First removed entries are removed, from the end. Then, from the front, new entries are inserted and as few
    /// entries as possible are moved. At last changed entries are updated.
    static func leading(
        from old: [Entry], to new: [Entry], id: (Entry) -> String,
        isSame: (Entry, Entry) -> Bool
    ) -> [ListEdit] {
        let tail = min(old.count, new.count)
        if old.count == new.count, (0..<tail).allSatisfy({ isSame(old[$0], new[$0]) }) {
            return []
        }
        if old.isEmpty { return new.enumerated().map { .insert($1, at: $0) } }
        var places: [String: Int] = [:]
        for (place, entry) in new.enumerated() { places[id(entry)] = place }
        var edits: [ListEdit] = []
        // For each entry that stays, in the old order, its index in the new window.
        var present: [Int] = []
        var before: [Int: Entry] = [:]
        for (place, entry) in old.enumerated().reversed() {
            guard let goal = places[id(entry)] else {
                edits.append(.remove(at: place))
                continue
            }
            present.append(goal)
            before[goal] = entry
        }
        present.reverse()
        edits += arranging(present, as: new)
        for (place, entry) in new.enumerated() {
            if let old = before[place], !isSame(old, entry) {
                edits.append(.update(entry, at: place))
            }
        }
        return edits
    }

    /// The inserts and moves that put entries, given by their new indexes, in order, with the new entries between
    /// them.
    private static func arranging(_ present: [Int], as new: [Entry]) -> [ListEdit] {
        let settled = Set(present.longestIncrease)
        let known = Set(present)
        var now = present
        var edits: [ListEdit] = []
        var next = 0
        for goal in new.indices {
            if settled.contains(goal) {
                // The entries passed over here are moved away in their own turn.
                while now[next] != goal { next += 1 }
            } else if !known.contains(goal) {
                edits.append(.insert(new[goal], at: next))
                now.insert(goal, at: next)
            } else if let place = now.firstIndex(of: goal) {
                now.remove(at: place)
                if place < next { next -= 1 }
                if place != next { edits.append(.move(at: place, to: next)) }
                now.insert(goal, at: next)
            }
            next += 1
        }
        return edits
    }
}

extension [Int] {
    /// The longest increasing subsequence of these numbers; each number occurs once.
    fileprivate var longestIncrease: [Int] {
        // `ends[n]`: the place where the subsequence of n + 1 numbers with the smallest last number ends.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for (place, number) in enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if self[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var run: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            run.append(self[place])
            place = previous[place]
        }
        return run.reversed()
    }
}
