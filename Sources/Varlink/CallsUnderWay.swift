internal import JSONCodec

/// The state of a connection's calls in progress, other than their replies.
///
/// It runs no actions itself: it returns those that the caller must run.
struct CallsUnderWay {
    /// The call that no later one is started beside: one with `more`, or with `upgrade`.
    struct Alone {
        let id: UInt64

        /// Its method's name.
        let method: String

        /// Whether the call wants to upgrade the connection, so that it is the last call.
        let wantsUpgrade: Bool

        /// Whether it has had a reply.
        fileprivate(set) var isAnswered: Bool

        /// Returns the state to resume the call in another process; nil if it can't be resumed (yet).
        fileprivate(set) var describe: (@Sendable () -> JSONObject?)?

        init(id: UInt64, method: String, wantsUpgrade: Bool = false, isAnswered: Bool = false) {
            self.id = id
            self.method = method
            self.wantsUpgrade = wantsUpgrade
            self.isAnswered = isAnswered
        }
    }

    private(set) var alone: Alone?

    /// The actions to run if the connection ends before the call does, by call.
    private var atClose: [UInt64: [@Sendable () -> Void]] = [:]

    /// The actions to run when the rights of peers have changed, by call.
    private var atReview: [UInt64: @Sendable () -> Void] = [:]

    /// The actions to run, once each, when the peer keeps up.
    private var whenWritable: [WritableAction] = []

    /// Whether a call wants to be notified that the peer keeps up.
    var awaitsPeer: Bool { !whenWritable.isEmpty }

    /// No later call is started beside this one until it has ended.
    mutating func run(alone call: Alone) { alone = call }

    /// Notes a reply of the call that runs alone.
    ///
    /// - Returns: Whether it is the first one.
    mutating func answerAlone() -> Bool {
        defer { alone?.isAnswered = true }
        return alone?.isAnswered == false
    }

    /// Sets the closure that describes how the call that runs alone continues in another process.
    mutating func describe(_ id: UInt64, _ describe: @escaping @Sendable () -> JSONObject?) {
        if alone?.id == id { alone?.describe = describe }
    }

    mutating func onClose(_ id: UInt64, _ action: @escaping @Sendable () -> Void) {
        atClose[id, default: []].append(action)
    }

    mutating func onReview(_ id: UInt64, _ action: @escaping @Sendable () -> Void) {
        atReview[id] = action
    }

    mutating func onWritable(_ action: WritableAction) { whenWritable.append(action) }

    /// A call has ended, and wants nothing any more.
    mutating func end(_ id: UInt64) {
        if alone?.id == id { alone = nil }
        if !atClose.isEmpty { atClose[id] = nil }
        if !atReview.isEmpty { atReview[id] = nil }
    }

    /// The actions to run after the rights of peers have changed, in the order of the calls.
    var reviews: [@Sendable () -> Void] {
        atReview.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Removes and returns the actions to run while the peer keeps up.
    mutating func takeWritable() -> [WritableAction] {
        var actions: [WritableAction] = []
        swap(&actions, &whenWritable)
        return actions
    }

    /// Takes back the array of ``takeWritable()``, to reuse its memory.
    mutating func giveBack(_ actions: inout [WritableAction]) {
        guard whenWritable.isEmpty else { return }
        actions.removeAll(keepingCapacity: true)
        swap(&actions, &whenWritable)
    }

    /// Ends all calls, because the connection has ended.
    ///
    /// - Returns: the actions to run, in the order of the calls.
    mutating func close() -> [@Sendable () -> Void] {
        let actions = atClose.sorted { $0.key < $1.key }.flatMap(\.value)
        // Which call ran alone is still asked for; how it goes on holds the call, and that the connection.
        alone?.describe = nil
        (atClose, atReview, whenWritable) = ([:], [:], [])
        return actions
    }
}
