internal import JSONCodec
internal import Logging
internal import NIOCore

// MARK: - Starting calls

extension Connection {
    /// Starts the call that a frame holds.
    func start(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let started = server.meters?.turnStart(at: server.budget.began) ?? 0
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                let header = try CallHeader(bytes, nesting: server.limits.nesting)
                start(header, of: bytes.count, at: started)
            }
        }
        try outcome.get()
    }

    private func start(_ header: CallHeader, of bytes: Int, at started: Int64) {
        server.statistics.calls += 1
        usage.startCall()
        let entry = entry(for: header)
        let place = entry?.place ?? server.table.count
        let slot = open(header, entry, place, bytes: bytes, at: started)
        server.meters?.start(place)
        guard let entry else {
            let name = header.escapedMethod ?? String(decoding: header.method, as: UTF8.self)
            return fail(slot, server.router.whyNotFound(name))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return fail(slot, denial.error)
        }
        switch entry.upgrade {
        case .never where header.wantsUpgrade:
            return fail(slot, VarlinkService.MethodNotImplemented(method: entry.name))
        case .required where !header.wantsUpgrade:
            return fail(slot, VarlinkService.ExpectedUpgrade())
        default: break
        }
        if let excess = excess(of: bytes) { return refuse(slot, excess) }
        do throws(JSONError) {
            let parameters = header.parameters ?? Connection.noParameters
            try entry.invoke(parameters, server.limits.nesting, slot)
        } catch {
            server.logger.debug(
                "a call had wrong parameters",
                metadata: [
                    "method": "\(entry.name)", "reason": "\(error)", "peer-uid": "\(peer.uid)",
                    "peer-pid": "\(peer.pid)",
                ])
            fail(slot, VarlinkService.InvalidParameter(parameter: error.path))
        }
    }

    /// Fails a call without running it; closes the connection if the call is oneway, which has no reply.
    private func refuse(_ slot: CallSlot, _ excess: VarlinkLimitExceeded) {
        fail(slot, excess)
        guard slot.kind == .oneway else { return }
        server.statistics.overflows += 1
        condemn(excess.message, exceeding: (excess.limit, excess.value), afterCalls: true)
    }

    private func entry(for header: CallHeader) -> MethodEntry? {
        guard var name = header.escapedMethod else {
            return server.table.entry(named: header.method)
        }
        return name.withUTF8 { server.table.entry(named: UnsafeRawBufferPointer($0)) }
    }

    private func open(
        _ header: CallHeader, _ entry: MethodEntry?, _ method: UInt16, bytes: Int,
        at started: Int64
    ) -> CallSlot {
        func slot(_ id: UInt64, _ kind: CallSlot.Kind) -> CallSlot {
            CallSlot(
                connection: self, id: id, kind: kind, method: method,
                bytes: UInt32(clamping: bytes), started: started)
        }
        if header.isOneway { return slot(silentCalls.open(bytes: bytes), .oneway) }
        let id = replies.open(method, bytes: bytes)
        guard header.wantsMore || header.wantsUpgrade else { return slot(id, .single) }
        calls.run(
            alone: .init(
                id: id, method: entry?.name ?? "", wantsUpgrade: header.wantsUpgrade))
        return slot(id, header.wantsMore ? .more : .upgrade)
    }

    /// What absent parameters are read from.
    ///
    /// A literal: its memory lives as long as the program.
    private static var noParameters: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

// MARK: - What the slots of calls ask for

extension Connection {
    /// Whether a call can still be answered.
    func isOpen(_ slot: CallSlot) -> Bool {
        guard takesAnswers else { return false }
        return slot.kind == .oneway ? silentCalls.isOpen(slot.id) : replies.isOpen(slot.id)
    }

    /// Answers with one frame that `encode` writes, without its NUL.
    func answer(
        _ slot: CallSlot, isLast: Bool, error: String? = nil, _ encode: (inout JSONWriter) -> Void
    ) {
        guard isOpen(slot) else { return }
        if slot.kind != .oneway {
            // The memory is moved out while it is written to: a second owner would copy it.
            var writer = JSONWriter(appendingTo: server.takeScratch())
            encode(&writer)
            writer.bytes.append(0)
            writer.bytes.withUnsafeBytes { replies.append($0, to: slot.id) }
            server.giveBack(scratch: &writer.bytes)
        }
        count(slot, error)
        if isLast { end(slot) }
        settleAnswer()
    }

    /// Answers with one whole frame, which is the last.
    func answer(_ slot: CallSlot, withLast frame: [UInt8]) {
        guard isOpen(slot) else { return }
        if slot.kind != .oneway { frame.withUnsafeBytes { replies.append($0, to: slot.id) } }
        count(slot, nil)
        end(slot)
        settleAnswer()
    }

    /// Answers with frames as they are; the call goes on.
    func answer(_ slot: CallSlot, with frames: ByteBuffer) {
        guard isOpen(slot) else { return }
        replies.append(sharing: frames, to: slot.id)
        count(slot, nil)
        settleAnswer()
    }

    /// Answers with one frame that `encode` begins and `tail` ends, with its NUL; the call goes on.
    func answer(
        _ slot: CallSlot, endingWith tail: [UInt8], _ encode: (inout JSONWriter) -> Void
    ) {
        guard isOpen(slot) else { return }
        var writer = JSONWriter(appendingTo: server.takeScratch())
        encode(&writer)
        if tail.count > Self.bigTail {
            // Memory of its own, which goes once it is sent: the connection's would stay.
            var frame = ByteBufferAllocator().buffer(capacity: writer.bytes.count + tail.count)
            frame.writeBytes(writer.bytes)
            frame.writeBytes(tail)
            replies.append(sharing: frame, to: slot.id)
        } else {
            writer.bytes.withUnsafeBytes { replies.append($0, to: slot.id) }
            tail.withUnsafeBytes { replies.append($0, to: slot.id) }
        }
        server.giveBack(scratch: &writer.bytes)
        count(slot, nil)
        settleAnswer()
    }

    /// Bytes of a reply that are not worth memory of their own.
    private static var bigTail: Int { 4 << 10 }

    /// Ends a call with an error.
    func fail<Failure: VarlinkErrorReply>(_ slot: CallSlot, _ error: Failure) {
        fail(slot, Failure.name, error)
    }

    /// Ends a call with an error that is known by name.
    func fail(_ slot: CallSlot, _ name: String, _ parameters: some JSONWritable) {
        guard isOpen(slot) else { return }
        server.statistics.errors += 1
        answer(slot, isLast: true, error: name) { $0.writeError(name, parameters) }
    }

    /// Answers with one reply, after which the connection speaks another protocol.
    func upgrade(
        _ slot: CallSlot, _ encode: (inout JSONWriter) -> Void,
        then: @escaping @Sendable (VarlinkRawConnection) -> Void
    ) {
        guard slot.kind == .upgrade, isOpen(slot) else { return }
        answer(slot, isLast: true, encode)
        // If not, it is stopping, or has just been condemned.
        switch state {
        case .open, .halfClosed: state = .upgrading(then)
        default: break
        }
    }

    func onClose(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        if isClosed { return eventLoop.execute(action) }
        // Of a connection that is about to close too: its end is yet to come.
        guard slot.kind != .oneway, replies.isOpen(slot.id) else { return }
        calls.onClose(slot.id, action)
    }

    func onWritable(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        guard isOpen(slot) else { return }
        calls.onWritable(WritableAction(slot: slot, run: action))
        schedule()
    }

    func onReview(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        guard slot.kind != .oneway, isOpen(slot) else { return }
        calls.onReview(slot.id, action)
    }

    /// Has the calls under way look whether their peer may still make them.
    func review() {
        for action in calls.reviews { action() }
    }

    private func end(_ slot: CallSlot) {
        if slot.kind == .oneway {
            silentCalls.end(slot.id)
            return
        }
        replies.end(slot.id)
        calls.end(slot.id)
    }

    /// Counts a call with its first reply: those that follow are not what the caller waits for.
    private func count(_ slot: CallSlot, _ error: String?) {
        guard let meters = server.meters else { return }
        if slot.kind == .more, !calls.answerAlone() { return }
        meters.record(slot, error: error)
    }

    /// Counts the calls that will never be answered, since the connection has ended.
    func countDropped() {
        guard let meters = server.meters else { return }
        for call in replies.openCalls
        where call.id != calls.alone?.id || calls.alone?.isAnswered == false {
            meters.drop(call.method)
        }
    }

    private func settleAnswer() {
        if bytesQueued > server.limits.queuedBytes {
            server.statistics.overflows += 1
            condemn(
                "more than \(server.limits.queuedBytes) bytes wait for it, and it does not read "
                    + "(limits.queuedBytes)")
        }
        schedule()
    }
}

/// A call's frame, parsed: the method, the flags, and where the parameters are.
///
/// It points into the frame and is valid as long as that is. All of the frame has been checked to be
/// JSON, so that what is wrong with the parameters later is wrong with their types.
struct CallHeader {
    /// The method's name: the bytes between the quotes, which hold no escapes.
    private(set) var method = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The method's name where it was written with escapes, which no known client does.
    private(set) var escapedMethod: String?

    /// The parameters' text; nil when they are absent or null.
    private(set) var parameters: UnsafeRawBufferPointer?

    private(set) var isOneway = false
    private(set) var wantsMore = false
    private(set) var wantsUpgrade = false

    private var seen: Members = []
    private var extensions = JSONKeySet()
    private var unknownMember: String?

    /// Reads a frame, whose parameters may nest so deep.
    init(_ bytes: UnsafeRawBufferPointer, nesting: Int) throws(ProtocolViolation) {
        do throws(JSONError) {
            var reader = JSONReader(bytes, depthLimit: nesting + 1)
            try read(&reader)
        } catch {
            let isFlag = ["oneway", "more", "upgrade"].contains(error.path)
            throw error.kind == .type && isFlag ? .flagNotBoolean(error) : .malformed(error)
        }
        if let unknownMember { throw .unknownMember(unknownMember) }
        guard seen.contains(.method) else { throw .missingMethod }
        let flags = (isOneway ? 1 : 0) + (wantsMore ? 1 : 0) + (wantsUpgrade ? 1 : 0)
        guard flags <= 1 else { throw .severalFlags }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "method":
                try note(.method, key, reader)
                try readMethod(&reader)
            case "parameters":
                try note(.parameters, key, reader)
                try readParameters(&reader)
            case "oneway":
                try note(.oneway, key, reader)
                isOneway = try reader.readNull() ? false : reader.readBool()
            case "more":
                try note(.more, key, reader)
                wantsMore = try reader.readNull() ? false : reader.readBool()
            case "upgrade":
                try note(.upgrade, key, reader)
                wantsUpgrade = try reader.readNull() ? false : reader.readBool()
            default:
                try skipExtension(key, &reader)
            }
        }
        try reader.end()
    }

    private mutating func note(
        _ member: Members, _ key: JSONKey, _ reader: JSONReader
    ) throws(JSONError) {
        guard seen.insert(member).inserted else { throw reader.duplicateMember(key) }
    }

    private mutating func readMethod(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.peek() == .string else {
            // Throws: it knows best how to say what is wrong.
            _ = try reader.readString()
            return
        }
        var again = reader
        let raw = try reader.rawValue()
        method = UnsafeRawBufferPointer(rebasing: raw[1..<(raw.count - 1)])
        if method.contains(UInt8(ascii: "\\")) { escapedMethod = try again.readString() }
    }

    private mutating func readParameters(_ reader: inout JSONReader) throws(JSONError) {
        guard try !reader.readNull() else { return }
        guard try reader.peek() == .object else {
            // Throws: it knows best how to say what is wrong.
            return try reader.beginObject()
        }
        parameters = try reader.rawValue()
    }

    /// A member with a dot in its name belongs to a vendor and is none of ours.
    private mutating func skipExtension(
        _ key: JSONKey, _ reader: inout JSONReader
    ) throws(JSONError) {
        let name = key.string
        guard name.utf8.contains(UInt8(ascii: ".")) else {
            unknownMember = unknownMember ?? name
            return try reader.skipValue()
        }
        guard extensions.insert(key) else { throw reader.duplicateMember(key) }
        try reader.skipValue()
    }

    private struct Members: OptionSet {
        let rawValue: UInt8
        static let method = Members(rawValue: 1)
        static let parameters = Members(rawValue: 2)
        static let oneway = Members(rawValue: 4)
        static let more = Members(rawValue: 8)
        static let upgrade = Members(rawValue: 16)
    }
}
