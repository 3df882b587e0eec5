import AtriumFormats
import AtriumKit
import ItemReading
import JSONCodec

/// How what a document says becomes items.
struct DocumentMapping: Sendable {
    private let items: JSONPointer?
    private let total: JSONPointer?
    private let next: JSONPointer?
    private let mapping: ItemMapping
    private let mostItems: Int

    private static let items = Setting.text(
        "items",
        "a JSON Pointer to the array of items; by default the document is one, or the only member that is one"
    )
    private static let total = Setting.text(
        "total", "a JSON Pointer to how many there are in all; with 'ask'")
    private static let next = Setting.text(
        "next", "a JSON Pointer to where the next ones begin; with 'ask.cursor'")
    /// How many there may be in all: other numbers, such as -1, say that the service does not know.
    private static let totals: ClosedRange<Int> = 0...1 << 40
    private static let names = ItemMapping.Names(
        id:
            "where ids are: a member or a JSON Pointer; of several, with commas between, they are made",
        parent: "where the id of the item is that an item lies under, likewise",
        fields: "fields whose members have other names: { title: name, town: /address/town }")
    private static let maxItems = Setting.integer(
        "maxItems", in: 1...1_000_000, "how many items it may have"
    ).defaulting(to: 100_000)

    static var settings: [Setting] {
        [items.setting, total.setting, next.setting] + names.settings + [maxItems.setting]
    }

    init(_ context: ComponentContext) throws(SettingError) {
        let settings = context.settings
        items = try Self.pointer(Self.items, settings)
        total = try Self.pointer(Self.total, settings)
        next = try Self.pointer(Self.next, settings)
        mapping = try ItemMapping(context, Self.names, separator: nil)
        mostItems = settings[Self.maxItems]
    }

    /// Whether a document says where the next items begin.
    var saysNext: Bool { next != nil }

    private static func pointer(
        _ setting: TypedSetting<String?>, _ settings: Settings
    ) throws(SettingError) -> JSONPointer? {
        guard let text = settings[setting] else { return nil }
        guard let pointer = JSONPointer(text) else {
            throw SettingError(
                setting.name, "expected a JSON Pointer such as /people/0, found '\(text)'")
        }
        return pointer
    }

    /// What a document says.
    struct Document {
        /// In its order, each once.
        var items: [Item]
        var total: Int?
        var next: String?
    }

    /// Reads a document of JSON, all of which counts or nothing.
    func document(_ bytes: [UInt8]) async throws -> Document {
        var bytes = bytes
        if let encoding = PlainText.utf16(bytes[...]) {
            throw FormatProblem(reason: "it is \(encoding), and JSON is UTF-8")
        }
        PlainText.removeMark(from: &bytes)
        let whole: JSONValue
        do throws(JSONError) {
            whole = try JSONValue(keepingDigits: bytes)
        } catch {
            throw FormatProblem(error, in: bytes, line: 1, column: 1)
        }
        return Document(
            items: try await items(of: whole),
            total: total?.value(in: whole)?.int.flatMap { Self.totals.contains($0) ? $0 : nil },
            next: next?.value(in: whole).flatMap(Self.cursor))
    }

    private static func cursor(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text.isEmpty ? nil : text
        case .int(let number): "\(number)"
        default: nil
        }
    }

    private func items(of whole: JSONValue) async throws -> [Item] {
        let elements = try array(in: whole)
        guard elements.count <= mostItems else {
            throw FormatProblem(
                reason:
                    "it has \(elements.count) items, where the setting 'maxItems' allows \(mostItems)"
            )
        }
        var objects = ObjectMapping(mapping)
        var items: [Item] = []
        items.reserveCapacity(elements.count)
        var places: [String: Int] = [:]
        for (place, element) in elements.enumerated() {
            if place % 1_000 == 999 { await Task.yield() }
            let item: Item
            do throws(FormatProblem) {
                item = try objects.item(element, FormatPiece(line: place + 1, content: .json([])))
            } catch {
                throw FormatProblem(reason: "item \(place + 1): \(error.reason)")
            }
            if let before = places.updateValue(place, forKey: item.id) {
                throw FormatProblem(
                    reason:
                        "item \(place + 1): the id '\(item.id)' stands here again; it is that of "
                        + "item \(before + 1)")
            }
            items.append(item)
        }
        return items
    }

    private func array(in whole: JSONValue) throws(FormatProblem) -> [JSONValue] {
        if let items {
            if let array = items.value(in: whole)?.array { return array }
            throw FormatProblem(
                reason: "there is no array at '\(items)', where the setting 'items' says that it is"
            )
        }
        if let array = whole.array { return array }
        let members = whole.object ?? []
        let arrays = members.filter { member in
            member.value.array?.allSatisfy { $0.object != nil } == true
        }
        let filled = arrays.filter { $0.value.array?.isEmpty == false }
        if filled.count == 1 { return filled[0].value.array ?? [] }
        // One that is empty is the items if there is nothing else: it may be that of the errors.
        if members.count == 1, let only = arrays.first { return only.value.array ?? [] }
        let found =
            if arrays.isEmpty {
                "there is no array of objects in it; where it is deeper, "
            } else if filled.isEmpty {
                "nothing says that its empty array '\(arrays[0].name)' is that of the items; "
            } else {
                "the items may be in '\(filled[0].name)' or in '\(filled[1].name)'; "
            }
        throw FormatProblem(reason: found + "the setting 'items' says where")
    }
}
