internal import AtriumKit
internal import JSONCodec

/// The fields of items that a program needs for its decisions, as named in its reply to `Start` or `ChangeSettings`.
///
/// A program can't request an item itself, since it only replies to calls.
struct ItemFields {
    private let names: Set<String>
    private let context: ComponentContext

    /// Checks the names; throws the first name of no field of the container.
    init(_ names: [String]?, _ context: ComponentContext) throws(ProgramFailure) {
        if let unknown = names?.first(where: { context.field($0) == nil }) {
            throw ProgramFailure(
                "wants the field '\(unknown.prefix(100))' of items, which the container does not have"
            )
        }
        self.names = Set(names ?? [])
        self.context = context
    }

    /// Returns the values of an item, which it requests from the daemon; nil: there is no such item, or the program
    /// wants none.
    func values(of item: String?) -> JSONObject? {
        guard !names.isEmpty, let item, let found = context.item(item) else { return nil }
        return Wire.encode(found.fields.filter { names.contains($0.key) })
    }
}
