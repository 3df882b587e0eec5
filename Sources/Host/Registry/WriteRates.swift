import NIOCore

/// How much each person wrote lately, and each front end for all its persons together.
///
/// Written bytes are credited back evenly over a minute, so whoever wrote nothing for a while may write a minute's
/// worth at once. A refused write is not counted.
struct WriteRates {
    private var persons = SpentTable()
    private var frontends = SpentTable()

    /// Counts a write of a call of some bytes, unless it exceeds a limit for a minute: returns the error, which says
    /// when to try again.
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

    /// How many persons and front ends are remembered.
    var count: Int { persons.count + frontends.count }
}

/// The limits for one minute, each with its name.
private struct Rate {
    var writes: (limit: String, perMinute: Int)
    var bytes: (limit: String, perMinute: Int)
}

/// The bytes that each of many persons or front ends has written lately.
///
/// It has two generations. Whoever writes moves to the younger one. When a generation is 120 s old, the next begins
/// and the older one is dropped: those in it have written nothing for two minutes, so their counts are zero. When a
/// generation is full the same happens early, to those who have not written for the longest time.
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
        // The size of this write is not counted here: a write that exceeds the limit by itself must be possible, and
        // delays those after it.
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
        // Capped at what is credited back in the life of a generation.
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
        // In milliseconds, rounded up so that a retry is not too early.
        let wait = ((spent - most) / most * 60_000).rounded(.up) / 1_000
        return .limitExceeded(limit: limit.limit, value: limit.perMinute, retryAfter: wait)
    }
}
