internal import AtriumKit

/// The ids of a program's items as the program spells them; the ids of items are in NFC.
///
/// The names of files are often in another Unicode form, which compares equal and has other bytes. To the program they
/// are different ids: so a removed one counts only in the spelling in which the item was listed last.
struct ItemSpellings {
    /// The latest spellings, by id; those of ASCII have one alone, and are left out.
    private var latest: [String: String] = [:]
    /// Other spellings under which the same items are listed, by id.
    private var others: [String: String] = [:]

    /// Returns an id in NFC.
    static func normal(_ id: String) -> String { isASCII(id) ? id : id.precomposed }

    /// Records that an item is listed, and returns its id.
    mutating func list(_ spelling: String) -> String {
        if Self.isASCII(spelling) { return spelling }
        let id = spelling.precomposed
        if let before = latest.updateValue(spelling, forKey: id), !Self.isSame(before, spelling) {
            others[id] = before
        }
        return id
    }

    /// Records that a listed item is gone, and returns its id; nil: the item is there in another spelling, and stays
    /// as it was listed last.
    mutating func remove(_ spelling: String) -> String? {
        if Self.isASCII(spelling) { return spelling }
        let id = spelling.precomposed
        if let other = others[id], Self.isSame(other, spelling) {
            others[id] = nil
            return nil
        }
        guard let last = latest[id] else { return id }
        guard Self.isSame(last, spelling) else { return nil }
        latest[id] = others.removeValue(forKey: id)
        return latest[id] == nil ? id : nil
    }

    /// The sentence for people about ids that are listed in two spellings; nil: there are none.
    var problem: String? {
        guard let id = others.keys.min() else { return nil }
        let more = others.count == 1 ? "" : ", and so are \(others.count - 1) more"
        return
            "The id '\(id.prefix(200))' is listed in two spellings, which are one in the Unicode "
            + "form NFC\(more): the item that was listed last is shown. Rename one."
    }

    private static func isASCII(_ id: String) -> Bool { id.utf8.allSatisfy { $0 < 0x80 } }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.elementsEqual(other.utf8)
    }
}
