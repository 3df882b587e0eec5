import AtriumKit
import DequeModule

/// The state of a container's screens.
struct Screening {
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
}
