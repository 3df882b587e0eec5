/// Where a screen stands, as far as that decides which lists it shows.
enum ListMode {
    /// At the top, and nothing is searched.
    case contents
    /// Inside an item; a search narrows what is in there.
    case entered
    /// At the top, while something is searched.
    case searched

    /// Where somebody stands who has entered an item, or not, and searches something, or nothing.
    init(isInside: Bool, isSearching: Bool) {
        self = isInside ? .entered : isSearching ? .searched : .contents
    }
}

/// Which lists of a container screens show at the top, inside an item, and while something is searched.
public struct ListModes: Sendable, Hashable {
    /// The contents components whose lists stand at the top, in order.
    ///
    /// One that was detached is left out until it is attached again; so in all modes.
    public var contents: [String]
    /// Those inside an item, each with the items whose parent it is; empty: those at the top.
    public var entered: [String]
    /// Those at the top while something is searched; empty: those at the top.
    public var searched: [String]

    /// Lists; by default the same everywhere.
    public init(contents: [String], entered: [String] = [], searched: [String] = []) {
        self.contents = contents
        self.entered = entered
        self.searched = searched
    }

    /// Whether they differ by mode: then a parent may lie in another list than its children.
    public var isByMode: Bool { !entered.isEmpty || !searched.isEmpty }

    /// All lists of any mode, each once: those at the top first.
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
