import Host
import Interfaces

/// The maximum number of bytes in the message of a call, by method.
///
/// A method has the size of the longest call that its other limits allow, in any way to write it: JSON takes up to four
/// times the bytes of a text where it is written with escapes. A longer call is refused before its parameters are read.
enum MethodSizes {
    /// Names, ids, numbers and the like.
    static let names = 64 << 10

    /// What one entry of the store may hold: items, records, a comment; and some hundreds of definitions.
    static let entry = 4 << 20

    /// The sizes under these limits; a method that is not among them takes any message.
    static func sizes(under host: HostLimits) -> [String: Int] {
        let known = MethodRoles.table.keys
        var sizes = Dictionary(uniqueKeysWithValues: known.map { ($0, names) })
        let query = min(entry, names + escaped(host.searchBytes) + escaped(host.selectionBytes))
        for method in [Contents.List.name, Filters.List.name, Screens.Open.name] {
            sizes[method] = query
        }
        let filter = names + escaped(max(host.filterBytes, host.searchBytes))
        for method in [Screens.Select.name, Screens.Deselect.name, Screens.Search.name] {
            sizes[method] = filter
        }
        // Without whitespace a payload is measured as it is written: this is room for indentation.
        sizes[Notifications.Publish.name] = names + 2 * host.payloadBytes
        for method in [
            Contents.Put.name, Containers.Restore.name, Containers.Attach.name,
            Containers.Apply.name, Comments.Post.name, Comments.Edit.name,
        ] {
            sizes[method] = entry
        }
        // A thousand ids.
        sizes[Contents.Remove.name] = 1 << 20
        return sizes
    }

    private static func escaped(_ bytes: Int) -> Int { 4 * bytes }
}
