import Interfaces
import JSONCodec
import Varlink

/// Which fields of an item a file names; the others stay as they are.
struct NamedFields: Sendable, Equatable {
    var fields: Set<String> = []
    var hasParent = false
}

/// The items that a list has already, read where a file names only some of their fields.
struct PresentItems {
    /// How many are asked for at once.
    private static let window = 100

    let session: Session
    let container: String
    let component: String?

    /// Whether the list has none.
    func areNone() async throws -> Bool {
        try await session.client.call(
            Contents.List.self, .init(container: container, component: component, limit: 1)
        ).total == 0
    }

    /// The items of a batch that are there, by id; what others change afterwards is not in them.
    func items(of batch: ImportBatch) async throws -> [String: Item] {
        let ids = batch.entries.filter { $0.named != nil }.flatMap(\.content.identity)
        var found: [String: Item] = [:]
        for start in stride(from: 0, to: ids.count, by: Self.window) {
            let window = ids[start..<min(start + Self.window, ids.count)]
            for reply in window.map(ask) {
                if let item = try await item(reply) { found[item.id] = item }
            }
        }
        return found
    }

    private func ask(_ id: String) -> AsyncThrowingStream<Item, any Error> {
        AsyncThrowingStream { continuation in
            session.client.send(
                Contents.Get.self, .init(container: container, component: component, item: id)
            ) { result in
                continuation.yield(with: result.map(\.item))
                continuation.finish()
            }
        }
    }

    private func item(_ reply: AsyncThrowingStream<Item, any Error>) async throws -> Item? {
        do {
            for try await item in reply { return item }
            throw CancellationError()
        } catch let error as VarlinkRemoteError where error.as(Contents.ItemNotFound.self) != nil {
            return nil
        }
    }
}

extension ImportBatch {
    /// Whether a line of it names only some fields of its item.
    var isPartial: Bool { entries.contains { $0.named != nil } }
}

extension ImportBatch.Entry {
    /// The line with what the item has already and the file does not name.
    func completed(by present: Item?) -> Self {
        var entry = self
        entry.named = nil
        guard let named, let present, case .item(var item) = content else { return entry }
        guard case .object(let members) = present.fields.value,
            case .object(let given) = item.fields.value
        else { return entry }
        let kept = members.filter { !named.fields.contains($0.name) }
        item.fields = JSONObject(kept + given)
        if !named.hasParent { item.parent = present.parent }
        entry.content = .item(item)
        entry.bytes += JSONObject(kept).bytes.count
        return entry
    }
}
