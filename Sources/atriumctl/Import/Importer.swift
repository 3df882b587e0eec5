import AtriumFormats
import Interfaces
import JSONCodec
import Varlink

/// Sends what a file holds in batches, several at once, and leaves out the bad lines.
///
/// The daemon replies to batches in order. When one is refused, it is sent again without its bad entries, and
/// without those that a batch sent after it has another version of: the later version must stay. An entry that is left
/// out so is sent once the later version is refused.
struct Importer {
    /// How many batches may wait for their replies at once.
    static let window = 4
    /// How often a batch is sent whose error has `retryAfter`.
    static let attempts = 20
    /// The entries behind a bad one are sent in pieces of this size, so that a file full of bad entries is not
    /// sent over and over.
    static let pieceSize = 64
    /// The bytes of a call that an item takes beside its id and its fields, its parent's id included.
    private static let itemOverhead = 256

    private let session: Session
    private let container: String
    private let component: String?
    private let wishes: ItemShape.Wishes
    /// Whether somebody wants the import to end early.
    private let isInterrupted: () -> Bool
    private(set) var report = ImportReport()
    private var flights: [Flight] = []
    /// The entries that were left out for later versions that are under way, by their identities, in the order of the
    /// file.
    private var outdated: [[String]: [ImportBatch.Entry]] = [:]
    private var progress = ProgressBar()
    private var itemLines = ItemLines()
    /// The line before that the latest item stands in, too.
    private var repeated: Int?
    private var shape: ItemShape?
    private var table: TableShape?
    /// Whether the list had no items before.
    private var wasEmpty = false

    init(
        _ session: Session, container: String, component: String?,
        wishes: ItemShape.Wishes = .init(),
        isInterrupted: @escaping () -> Bool = { false }
    ) {
        self.session = session
        self.container = container
        self.component = component
        self.wishes = wishes
        self.isInterrupted = isInterrupted
    }

    /// Imports a file; if nothing more can be imported, ``report`` has the counts so far.
    mutating func run(_ reader: inout ImportReader) async throws {
        defer { progress.clear() }
        if let rows = reader.table, !rows.columns.isEmpty {
            table = try TableShape(
                rows.columns, try await itemShape(allowsDecimalComma: rows.allowsDecimalComma))
        }
        var batch = ImportBatch()
        while let piece = try next(&reader) {
            repeated = nil
            guard let entry = try await entry(piece) else { continue }
            // The daemon takes an id once in a call.
            let isThere = repeated.map { $0 >= batch.entries.first?.line ?? .max } ?? false
            if isThere || !batch.takes(entry) {
                try await submit(batch)
                batch = ImportBatch()
                progress.show(
                    done: report.done + report.bad, position: reader.position,
                    size: reader.size)
            }
            batch.append(entry)
        }
        if !isInterrupted() { try await submit(batch) }
        while !flights.isEmpty { try await land() }
        if isInterrupted() { throw ImportInterrupted() }
    }

    /// The next piece of a file; nil at its end, and once somebody wants the import to end early.
    private func next(_ reader: inout ImportReader) throws -> FormatPiece? {
        guard !isInterrupted() else { return nil }
        do {
            let piece = try reader.next()
            // Of an input that was not waited for the last piece may be a part of one.
            return isInterrupted() ? nil : piece
        } catch  where isInterrupted() {
            return nil
        }
    }

    private mutating func entry(_ piece: FormatPiece) async throws -> ImportBatch.Entry? {
        do {
            switch piece.content {
            case .bad(let problem): throw ImportLineError(problem, line: piece.line)
            case .row(let cells):
                return try table.map {
                    self.entry(piece.line, try $0.item(cells), named: $0.named)
                }
            case .json(let bytes):
                switch try ImportLine(bytes, line: piece.line, column: piece.column) {
                case .nothing: return nil
                case .item(let item): return entry(piece.line, item, bytes: bytes.count + 1)
                case .flat(let members):
                    let (item, named) = try await itemShape().item(members)
                    return entry(piece.line, item, named: named)
                case .record(let record):
                    return .init(
                        line: piece.line, content: .record(record), bytes: bytes.count + 1)
                }
            }
        } catch let error as ImportLineError {
            report.add(.init(line: piece.line, reason: error.reason))
            return nil
        }
    }

    private mutating func entry(
        _ line: Int, _ item: Contents.Put.Parameters.Items, bytes: Int? = nil,
        named: NamedFields? = nil
    ) -> ImportBatch.Entry {
        var item = item
        item.id = ItemText.normal(item.id)
        item.parent = item.parent.map(ItemText.normal)
        repeated = itemLines.record(item.id, line: line)
        if let repeated { report.add(.init(id: item.id, line: line, before: repeated)) }
        let bytes = bytes ?? item.fields.bytes.count + item.id.utf8.count + Self.itemOverhead
        let isNew = wasEmpty && repeated == nil
        return .init(line: line, content: .item(item), bytes: bytes, named: isNew ? nil : named)
    }

    /// How items get their fields; asked of the daemon where a file does not say it itself.
    private mutating func itemShape(allowsDecimalComma: Bool = false) async throws -> ItemShape {
        if let shape { return shape }
        try await checkThatItTakesItems()
        let fields = try await session.describe(container).fields.filter { $0.of == nil }
        let found = ItemShape(
            container: container, fields: fields, wishes: wishes,
            allowsDecimalComma: allowsDecimalComma)
        shape = found
        if !wishes.replacesItems {
            let present = present
            wasEmpty = try await read { try await present.areNone() }
        }
        return found
    }

    /// Asks a list whether it takes items at all, before what is wrong with theirs is said.
    private func checkThatItTakesItems() async throws {
        do {
            _ = try await session.client.call(
                Contents.Put.self, .init(container: container, component: component, items: []))
        } catch let error as VarlinkRemoteError where Self.isFinal(error) {
            throw await session.explain(error)
        } catch {
            // Whatever else is wrong the import itself comes to.
        }
    }

    /// Whether other items would be refused, too.
    private static func isFinal(_ error: VarlinkRemoteError) -> Bool {
        if case .roleRequired? = InterfaceError(error) { return true }
        return error.as(Contents.ReadOnly.self) != nil
    }

    private var present: PresentItems {
        PresentItems(session: session, container: container, component: component)
    }

    private mutating func submit(_ batch: ImportBatch) async throws {
        guard batch.isPartial else { return try await dispatch(batch) }
        // What is on its way may change the items that are read.
        while !flights.isEmpty { try await land() }
        let present = present
        let items = try await read { try await present.items(of: batch) }
        var whole = ImportBatch()
        for entry in batch.entries {
            let entry = entry.completed(by: entry.content.identity.first.flatMap { items[$0] })
            if !whole.takes(entry) {
                try await dispatch(whole)
                whole = ImportBatch()
            }
            whole.append(entry)
        }
        try await dispatch(whole)
    }

    /// Reads from the daemon, again where it says that it can reply later.
    private func read<Result>(_ body: () async throws -> Result) async throws -> Result {
        var attempt = 1
        while true {
            do {
                return try await session.sayingWait(body)
            } catch let error as VarlinkRemoteError {
                guard case .later(let seconds) = ImportRefusal(error, of: ImportBatch()),
                    try await pause(seconds, attempt: attempt)
                else { throw await session.explain(error) }
                attempt += 1
            } catch {
                throw await session.explain(error)
            }
        }
    }

    /// Waits before another attempt; returns whether there is to be one.
    private func pause(_ seconds: Double, attempt: Int) async throws -> Bool {
        guard attempt < Self.attempts, !isInterrupted() else { return false }
        try await Task.sleep(for: .seconds(min(10, max(0.05, seconds))))
        return true
    }

    private mutating func dispatch(_ batch: ImportBatch) async throws {
        guard !batch.isEmpty else { return }
        // Batches are sent in the order of the file: records may belong to items before them.
        while flights.count >= Self.window { try await land() }
        flights.append(send(batch))
    }

    private mutating func land() async throws {
        try await receive(flights.removeFirst(), attempt: 1)
    }

    private mutating func receive(_ flight: Flight, attempt: Int) async throws {
        do {
            switch try await session.sayingWait({ try await flight.outcome() }) {
            case .put(let reply):
                report.add(
                    inserted: reply.inserted, updated: reply.updated, unchanged: reply.unchanged)
            case .restored(let reply):
                report.add(restored: reply.restored, unchanged: reply.unchanged)
            }
            if !outdated.isEmpty {
                for entry in flight.batch.entries { outdated[entry.content.identity] = nil }
            }
        } catch let error as VarlinkRemoteError {
            try await mend(flight.batch, error, attempt: attempt)
        } catch {
            throw await session.explain(error)
        }
    }

    /// Removes the bad entries from a refused batch, and sends the others again.
    private mutating func mend(
        _ batch: ImportBatch, _ error: VarlinkRemoteError, attempt: Int
    ) async throws {
        let entries = batch.entries
        switch ImportRefusal(error, of: batch) {
        case .everything: throw await session.explain(error)
        case .later(let seconds):
            guard try await pause(seconds, attempt: attempt) else {
                throw await session.explain(error)
            }
            try await deliver(batch, attempt: attempt + 1)
        case .entry(let place):
            try await reject(entries[place], error)
            try await deliver(ImportBatch(entries[..<place]))
            let rest = ImportBatch(entries[(place + 1)...])
            for piece in rest.pieces(of: Self.pieceSize) { try await deliver(piece) }
        case .entries(let places):
            for place in places { try await reject(entries[place], error) }
            let bad = Set(places)
            try await deliver(
                ImportBatch(entries.indices.filter { !bad.contains($0) }.map { entries[$0] }))
        case .halves:
            for half in batch.pieces(of: (entries.count + 1) / 2) { try await deliver(half) }
        }
    }

    private mutating func deliver(_ batch: ImportBatch, attempt: Int = 1) async throws {
        let later = Set(flights.flatMap { $0.batch.entries.map(\.content.identity) })
        var latest = ImportBatch()
        for entry in batch.entries {
            if later.contains(entry.content.identity) {
                outdated[entry.content.identity, default: []].append(entry)
            } else {
                latest.append(entry)
            }
        }
        guard !latest.isEmpty else { return }
        try await receive(send(latest), attempt: attempt)
    }

    /// Reports that an entry was refused; the version before counts if it was left out for this one.
    private mutating func reject(
        _ entry: ImportBatch.Entry, _ error: VarlinkRemoteError
    ) async throws {
        report.add(.init(line: entry.line, reason: Self.reason(error, container)))
        if let before = outdated[entry.content.identity]?.popLast() {
            try await deliver(ImportBatch([before]))
        }
    }

    /// Why an entry was refused; of a field that is not declared without the list of those that are, on every line.
    private static func reason(_ error: VarlinkRemoteError, _ container: String) -> String {
        if case .fieldInvalid(let item, let field, _, let found) = InterfaceError(error),
            found == "an undeclared one"
        {
            return "item '\(Wording.cut(item))': "
                + "'\(Wording.cut(field))' is no field of '\(container)'"
        }
        return RemoteProblem.explain(error).sentence
    }

    private func send(_ batch: ImportBatch) -> Flight {
        if batch.holdsRecords {
            Flight(
                batch, Containers.Restore.self,
                .init(container: container, records: batch.records), session.client
            ) { .restored($0) }
        } else {
            Flight(
                batch, Contents.Put.self,
                .init(container: container, component: component, items: batch.items),
                session.client
            ) { .put($0) }
        }
    }
}

/// Somebody ended an import early.
struct ImportInterrupted: Error {}

/// The lines of items, so that those that occur twice are reported.
private struct ItemLines {
    /// How many are remembered, at some 20 bytes each; later duplicates are not reported.
    private static let most = 4_000_000

    private var lines: [Int: Int32] = [:]

    /// The latest line before that the id stands in, if any.
    mutating func record(_ id: String, line: Int) -> Int? {
        let key = id.hashValue
        let before = lines[key]
        if before != nil || lines.count < Self.most {
            lines[key] = Int32(truncatingIfNeeded: line)
        }
        return before.map(Int.init)
    }
}

/// A batch that was sent.
private struct Flight {
    /// The reply.
    enum Outcome: Sendable {
        case put(Contents.Put.Reply)
        case restored(Containers.Restore.Reply)
    }

    let batch: ImportBatch
    private let answer: AsyncThrowingStream<Outcome, any Error>

    /// Sends the call; calls are sent in the order in which flights are made.
    init<Method: VarlinkMethod>(
        _ batch: ImportBatch, _ method: Method.Type, _ parameters: Method.Parameters,
        _ client: VarlinkClient, _ outcome: @escaping @Sendable (Method.Reply) -> Outcome
    ) {
        self.batch = batch
        answer = AsyncThrowingStream { continuation in
            client.send(method, parameters) { result in
                continuation.yield(with: result.map(outcome))
                continuation.finish()
            }
        }
    }

    /// Waits for the reply.
    func outcome() async throws -> Outcome {
        for try await outcome in answer { return outcome }
        throw CancellationError()
    }
}
