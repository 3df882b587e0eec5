/// The mode of a screen or query, which decides which lists it shows.
enum ListMode {
    /// At the top, without a search.
    case contents
    /// Inside an item; a search there narrows the item's children.
    case entered
    /// At the top, with a search.
    case searched

    init(isInside: Bool, isSearching: Bool) {
        self = isInside ? .entered : isSearching ? .searched : .contents
    }
}

/// Which lists of a container screens show at the top, inside an item, and while something is searched.
public struct ListModes: Sendable, Hashable {
    /// The contents components whose lists stand at the top, in order.
    ///
    /// A detached component is left out until it is attached again; this holds in all modes.
    public var contents: [String]
    /// The components whose lists stand inside an item, showing its children; empty: those at the top.
    public var entered: [String]
    /// The components whose lists show search results at the top; empty: those at the top.
    public var searched: [String]

    /// Lists; by default the same everywhere.
    public init(contents: [String], entered: [String] = [], searched: [String] = []) {
        self.contents = contents
        self.entered = entered
        self.searched = searched
    }

    /// Whether the lists differ by mode: then a parent may be in another list than its children.
    public var isByMode: Bool { !entered.isEmpty || !searched.isEmpty }

    /// The lists of all modes, each once, those at the top first.
    public var all: [String] {
        var seen: Set<String> = []
        return (contents + entered + searched).filter { seen.insert($0).inserted }
    }

    func shown(_ mode: ListMode) -> [String] {
        let lists =
            switch mode {
            case .contents: contents
            case .entered: entered
            case .searched: searched
            }
        return lists.isEmpty ? contents : lists
    }
}
