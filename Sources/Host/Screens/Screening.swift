import AtriumKit
import DequeModule
import NIOCore

/// What a container keeps for its screens.
struct Screening {
    /// By what was chosen.
    private(set) var views: [ViewKey: SharedView] = [:]
    /// By what they are about, and what of it they show.
    private(set) var focuses: [Subject: [FocusKey: SharedFocus]] = [:]
    /// The views that stand in an item, or in what lies under it.
    private(set) var standing: [String: [ObjectIdentifier: SharedView]] = [:]
    /// By the actor's name.
    var ballots: [String: OwnBallots] = [:]
    /// What screens are told of the container; nil: none was told yet.
    var outline: ContainerOutline?
    /// Another one when components, their order or their state are others.
    var structure: UInt64 = 1
    /// How many commits there were.
    var commits = 0
    /// Grows with all that happens: what was brought up to this version shows what there is.
    var version: UInt64 = 1
    /// What views and focuses were last noted by whose items came, went or lie elsewhere.
    var tree: (version: UInt64, structure: UInt64) = (0, 0)
    /// The items that were just seen to be in no list any more.
    var gone: Set<String> = []
    /// Those of them whose views and focuses were noted, until all of these were looked at.
    var left: Set<String> = []
    /// What the views that wait to be brought up to now were last found by.
    var seen = Seen()
    /// What the filters components offer, as of a version.
    var offers: (version: UInt64, value: UInt64?)?
    /// What these answered the views that follow.
    var answers = SharedAnswers()
    /// When components were last told how many screens show them.
    var counted: NIODeadline?
    /// Whether they are about to be told.
    var isCounting = false
    /// Whether something happened that was not looked at yet.
    var isDirty = false
    /// Whether screens are following, now or in a turn to come.
    var isFollowing = false
    /// How often a view was looked at.
    var visits = 0
    /// How often a screen was looked at because its view or focus stands elsewhere.
    var moves = 0
    /// How often a view or a focus was looked at because its items may lie elsewhere.
    var placings = 0

    /// What waits to be put where its items lie by now, each once.
    var unplacedViews: Deque<SharedView> = []
    var unplacedFocuses: Deque<SharedFocus> = []
    /// What waits to be brought up to now, each once; then screens that are to go where their view and
    /// focus are, and those whose readers are to be woken.
    var staleViews: Deque<SharedView> = []
    var staleFocuses: Deque<SharedFocus> = []
    var strays: Deque<Screen> = []
    var woken: Deque<Screen> = []
    /// Parts that could not be shown.
    var failed: [ScreenID: Screen] = [:]
    /// Those whose next revision waits for a component's answer.
    var blocked: [ScreenID: Screen] = [:]

    /// What all views have to follow when it is another.
    struct Seen: Equatable {
        var structure: UInt64 = 0
        var offers: UInt64?
        /// The lists that have no items under others.
        var flat: [Bool] = []
    }

    /// The view that those share from now on who chose what it shows, below these ancestors.
    mutating func insert(_ view: SharedView, under ancestors: [String]) {
        if let other = views[view.key], other !== view { remove(other) }
        views[view.key] = view
        place(view, under: ancestors)
    }

    /// Lets a view be found by what it stands in, and by what that lies under, there or not.
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

    /// Whether a view is shown, or is about to be.
    func has(_ view: SharedView) -> Bool { views[view.key] === view || !view.foundBy.isEmpty }

    subscript(key: FocusKey) -> SharedFocus? { focuses[key.subject]?[key] }
}
