import AtriumKit

/// The choices made on a screen that decide what is shared with other screens.
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
    /// The entered item after its ancestors, outermost first.
    var places: [Place] = []
    /// The most entries of each list.
    var limit = 50
    /// Other limits, by component.
    var limits: [String: Int] = [:]
    /// Hidden components, without those that the definition hides.
    var hidden: Set<String> = []

    func limit(of component: String) -> Int { limits[component] ?? limit }

    /// Which lists the screen shows, as long as its scope exists.
    var mode: ListMode { ListMode(isInside: !places.isEmpty, isSearching: !search.isEmpty) }
}
