import AtriumKit
import DequeModule

/// The state of a container's screens.
struct Screening {
    /// The views, by their choices.
    private(set) var views: [ViewKey: SharedView] = [:]
    /// The focuses, by subject and by what they show of it.
    private(set) var focuses: [Subject: [FocusKey: SharedFocus]] = [:]
    /// The views that stand in an item or below it.
    private(set) var standing: [String: [ObjectIdentifier: SharedView]] = [:]
    /// The ballots of the screens' actors, by name.
    var ballots: [String: OwnBallots] = [:]
    /// What screens show of the container itself; nil: nothing yet.
    var outline: ContainerOutline?
    /// Changes with the components, their order and their state.
    var structure: UInt64 = 1
    /// The number of commits.
    var commits = 0
    /// Increased by every change: a view or focus with this version is up to date.
    var version: UInt64 = 1
    /// The state of the trees of items for which views and focuses were last marked.
    var tree: (version: UInt64, structure: UInt64) = (0, 0)
    /// The items that were just found to be in no list.
    var gone: Set<String> = []
    /// The items among them whose views and focuses were marked, until all of these have been moved.
    var left: Set<String> = []
    /// The state for which views were last marked.
    var seen = Seen()
    /// A number for what the filters components offer, as of a version.
    var offers: (version: UInt64, value: UInt64?)?
    /// The answers of filters components that views share.
    var answers = SharedAnswers()
    /// Whether something changed that has not been processed.
    var isDirty = false
    /// Whether screens are being updated, now or in a later turn.
    var isFollowing = false
    /// The number of times that a view was updated.
    var visits = 0
    /// The number of times that a screen was moved.
    var moves = 0
    /// The number of times that a view or a focus was moved.
    var placings = 0

    /// The views and focuses to be moved to the present places of their items, each once.
    var unplacedViews: Deque<SharedView> = []
    var unplacedFocuses: Deque<SharedFocus> = []
    /// The views and focuses to be updated, each once; then the screens to be moved.
    var staleViews: Deque<SharedView> = []
    var staleFocuses: Deque<SharedFocus> = []
    var strays: Deque<Screen> = []
    /// The screens whose readers are to be woken, each once.
    private var woken: Deque<Screen> = []
    /// The parts that could not be shown.
    var failed: [ScreenID: Screen] = [:]
    /// The screens whose next revision waits for a component's answer.
    var blocked: [ScreenID: Screen] = [:]

    /// The state whose change affects all views.
    struct Seen: Equatable {
        var structure: UInt64 = 0
        var offers: UInt64?
        /// Whether each list has only items without parents.
        var flat: [Bool] = []
    }

    /// Registers a view for all screens with its choices, below these ancestors.
    mutating func insert(_ view: SharedView, under ancestors: [String]) {
        if let other = views[view.key], other !== view { remove(other) }
        views[view.key] = view
        place(view, under: ancestors)
    }

    /// Registers a view under the items in which it stands, and under their ancestors, whether or not they exist.
    mutating func place(_ view: SharedView, under ancestors: [String]) {
        let items = view.key.places.map(\.item) + ancestors
        guard items != view.foundBy else { return }
        displace(view)
        view.foundBy = items
        for item in items { standing[item, default: [:]][ObjectIdentifier(view)] = view }
    }

    private mutating func displace(_ view: SharedView) {
        for item in view.foundBy {
            standing[item]?[ObjectIdentifier(view)] = nil
            if standing[item]?.isEmpty == true { standing[item] = nil }
        }
        view.foundBy = []
    }

    mutating func remove(_ view: SharedView) {
        if views[view.key] === view { views[view.key] = nil }
        displace(view)
    }

    mutating func insert(_ focus: SharedFocus) {
        focuses[focus.key.subject, default: [:]][focus.key] = focus
    }

    mutating func remove(_ focus: SharedFocus) {
        guard self[focus.key] === focus else { return }
        focuses[focus.key.subject]?[focus.key] = nil
        if focuses[focus.key.subject]?.isEmpty == true { focuses[focus.key.subject] = nil }
    }

    /// Marks screens whose readers are to be woken.
    mutating func wake(_ screens: some Collection<Screen>) {
        for screen in screens where !screen.isQueued {
            screen.isQueued = true
            woken.append(screen)
        }
    }

    /// Removes and returns the next screen whose reader is to be woken; nil: there is none.
    mutating func takeWoken() -> Screen? {
        let screen = woken.popFirst()
        screen?.isQueued = false
        return screen
    }

    /// Whether a view is shown, or will be.
    func has(_ view: SharedView) -> Bool { views[view.key] === view || !view.foundBy.isEmpty }

    subscript(key: FocusKey) -> SharedFocus? { focuses[key.subject]?[key] }
}
