extension Value {
    /// The value as people write it: text as it is, a number without needless zeros (`4`, `4.5`), `true` or `false`;
    /// nil for null, lists and objects.
    ///
    /// It is the id of a filter for a value, and the key of a histogram.
    public var plainText: String? {
        switch self {
        case .text(let text): text
        case .int(let int): String(int)
        case .number(let number): Int64(exactly: number).map { String($0) } ?? "\(number)"
        case .bool(let bool): bool ? "true" : "false"
        case .null, .list, .object: nil
        }
    }

    /// Whether two values are the same, however a number is written.
    ///
    /// `4` is the same as `4.0`, unlike with `==`. Texts are the same if their bytes are, while `==` also equates a
    /// letter with an accent and the precomposed letter.
    ///
    /// A stored value may be written differently when it is read again.
    public func isSame(as other: Value) -> Bool {
        switch (self, other) {
        case (.number, _), (_, .number):
            if let int, let otherInt = other.int { return int == otherInt }
            guard let number, let otherNumber = other.number else { return false }
            return number == otherNumber
        case (.text(let one), .text(let two)):
            return one.utf8.elementsEqual(two.utf8)
        case (.list(let one), .list(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
        case (.object(let one), .object(let two)):
            return one.count == two.count
                && one.allSatisfy { name, value in
                    guard let place = two.index(forKey: name) else { return false }
                    return name.utf8.elementsEqual(two[place].key.utf8)
                        && two[place].value.isSame(as: value)
                }
        default:
            return self == other
        }
    }
}
