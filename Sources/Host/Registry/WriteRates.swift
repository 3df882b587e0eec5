import NIOCore

/// How fast persons write, and front ends for all of theirs together.
///
/// What was written is forgotten evenly in the course of a minute, so whoever wrote nothing for a while may
/// write a minute's worth at once. A write that is refused counts nothing.
struct WriteRates {
    private var persons = SpentTable()
    private var frontends = SpentTable()

    /// Counts a write, or says what it exceeds and when it would not.
    ///
    /// - Parameters:
    ///   - bytes: what its call has.
    ///   - caller: on whose behalf.
    ///   - limits: how much in a minute.
    ///   - now: the time.
    /// - Returns: nil: it is counted.
    mutating func refusal(
        ofWriting bytes: Int, by caller: Caller, _ limits: HostLimits, at now: NIODeadline
    ) -> HostError? {
        let own = Rate(
            writes: ("writesPerMinute", limits.writesPerMinute),
            bytes: ("bytesPerMinute", limits.bytesPerMinute))
        switch caller.pace {
        case .free: return nil
        case .person:
            if let error = persons.refusal(of: caller.actor, own, at: now) { return error }
        case .frontend(let frontend):
            let all = Rate(
                writes: ("frontendWritesPerMinute", limits.frontendWritesPerMinute),
                bytes: ("frontendBytesPerMinute", limits.frontendBytesPerMinute))
            if let error = persons.refusal(of: caller.actor, own, at: now)
                ?? frontends.refusal(of: frontend, all, at: now)
            {
                return error
            }
            frontends.spend(bytes, by: frontend, all, at: now)
        }
        persons.spend(bytes, by: caller.actor, own, at: now)
        return nil
    }

    /// How many are remembered.
    var count: Int { persons.count + frontends.count }
}

/// How much in a minute, each with its limit's name.
private struct Rate {
    var writes: (limit: String, perMinute: Int)
    var bytes: (limit: String, perMinute: Int)
}

/// What each of many has written lately.
///
/// Two generations: who writes moves to the younger one, and who is still in the older one when the next
/// begins has written nothing for two minutes, and so has nothing to be remembered. The same happens
/// early when a generation is full, to those who have not written for the longest time.
private struct SpentTable {
    private struct Spent {
        var writes = 0.0
        var bytes = 0.0
        var time: NIODeadline
    }

    private static let generation = TimeAmount.seconds(120)
    private static let most = 1 << 16

    private var young: [String: Spent] = [:]
    private var old: [String: Spent] = [:]
    private var begin = NIODeadline.uptimeNanoseconds(0)

    var count: Int { young.count + old.count }

    func refusal(of name: String, _ rate: Rate, at now: NIODeadline) -> HostError? {
        let spent = spent(by: name, rate, at: now)
        // A write that is longer than a minute's worth of bytes has to be possible: it is paid off afterwards.
        return Self.refusal(spent.writes + 1, rate.writes)
            ?? Self.refusal(spent.bytes, rate.bytes)
    }

    mutating func spend(_ bytes: Int, by name: String, _ rate: Rate, at now: NIODeadline) {
        if now - begin >= Self.generation || young.count >= Self.most {
            old = young
            young = [:]
            begin = now
        }
        var spent = spent(by: name, rate, at: now)
        spent.writes += 1
        // No more than a generation can pay off.
        spent.bytes = min(spent.bytes + Double(bytes), 2 * Double(rate.bytes.perMinute))
        old[name] = nil
        young[name] = spent
    }

    private func spent(by name: String, _ rate: Rate, at now: NIODeadline) -> Spent {
        guard let last = young[name] ?? old[name] else { return Spent(time: now) }
        let minutes = Double((now - last.time).nanoseconds) / 60e9
        return Spent(
            writes: max(0, last.writes - minutes * Double(rate.writes.perMinute)),
            bytes: max(0, last.bytes - minutes * Double(rate.bytes.perMinute)), time: now)
    }

    private static func refusal(
        _ spent: Double, _ limit: (limit: String, perMinute: Int)
    ) -> HostError? {
        let most = Double(limit.perMinute)
        guard spent > most else { return nil }
        // In milliseconds, and none too early.
        let wait = ((spent - most) / most * 60_000).rounded(.up) / 1_000
        return .limitExceeded(limit: limit.limit, value: limit.perMinute, retryAfter: wait)
    }
}
