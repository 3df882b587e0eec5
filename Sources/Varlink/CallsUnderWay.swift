internal import JSONCodec

/// What is kept of a connection's calls under way, beside what they are answered with.
///
/// It calls nobody: it returns what the caller has to run.
struct CallsUnderWay {
    /// The call that no later one is started beside: one with `more`, or with `upgrade`.
    struct Alone {
        let id: UInt64

        /// Its method's name.
        let method: String

        /// Whether it is to be the last call.
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

    /// What to run when the connection ends before the call does.
    private var atClose: [UInt64: [@Sendable () -> Void]] = [:]

    /// What to run when what peers may do has changed.
    private var atReview: [UInt64: @Sendable () -> Void] = [:]

    /// What to run, once, when the peer keeps up.
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

    /// Sets how the call that runs alone goes on in another process.
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

    /// What is to be run now that what peers may do has changed, in the order of the calls.
    var reviews: [@Sendable () -> Void] {
        atReview.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Hands out what is to be run while the peer keeps up.
    mutating func takeWritable() -> [WritableAction] {
        var actions: [WritableAction] = []
        swap(&actions, &whenWritable)
        return actions
    }

    /// Takes the memory of ``takeWritable()`` back, to be used again.
    mutating func giveBack(_ actions: inout [WritableAction]) {
        guard whenWritable.isEmpty else { return }
        actions.removeAll(keepingCapacity: true)
        swap(&actions, &whenWritable)
    }

    /// The connection has ended, and with it what the calls wanted.
    ///
    /// - Returns: What is to be run, in the order of the calls.
    mutating func close() -> [@Sendable () -> Void] {
        let actions = atClose.sorted { $0.key < $1.key }.flatMap(\.value)
        // Which call ran alone is still asked for; how it goes on holds the call, and that the connection.
        alone?.describe = nil
        (atClose, atReview, whenWritable) = ([:], [:], [])
        return actions
    }
}
