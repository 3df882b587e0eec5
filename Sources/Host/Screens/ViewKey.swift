import AtriumKit

/// What was chosen on a screen, as far as it decides what all see who chose the same.
struct ViewKey: Hashable {
    /// An item whose children a list shows.
    struct Place: Hashable {
        var component: String
        var item: String
    }

    /// Nil: the container has no scopes.
    var scope: String?
    var selection = Selection()
    var search = ""
    var sort: [String] = []
    /// The entered item, after what it lies under, outermost first.
    var places: [Place] = []
    /// At most so many entries of each list.
    var limit = 50
    /// Other limits, by component.
    var limits: [String: Int] = [:]
    /// The components that are left out, beside those that the definition hides.
    var hidden: Set<String> = []

    func limit(of component: String) -> Int { limits[component] ?? limit }

    /// Which lists it shows, as long as its scope is there.
    var mode: ListMode { ListMode(isInside: !places.isEmpty, isSearching: !search.isEmpty) }
}
