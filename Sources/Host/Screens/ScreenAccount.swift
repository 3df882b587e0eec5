import AtriumKit

/// Something that screens show at one moment, and what it takes in memory, roughly.
protocol ShownState: AnyObject {
    /// Tells it from every other one, of whatever kind.
    var number: UInt64 { get }
    /// About how many bytes it has, what was encoded of it among them.
    var bytes: Int { get }
}

/// What one user's screens keep in memory, roughly.
///
/// What several of them show is counted once. A view or a focus that several users share is counted
/// for one of them, what their screens were sent last for each.
final class ScreenAccount {
    let owner: String
    /// The user's screens.
    var screens: [ScreenID: Screen] = [:]
    private(set) var bytes = 0
    /// Whether screens of it are about to be ended.
    var isRelieved = false

    /// How often each state is held.
    private var held: [UInt64: Int] = [:]
    private let changed: (ScreenAccount) -> Void

    /// - Parameters:
    ///   - owner: the user.
    ///   - changed: called when there are more bytes than before.
    init(_ owner: String, changed: @escaping (ScreenAccount) -> Void) {
        self.owner = owner
        self.changed = changed
    }

    /// A state is kept, by one more.
    func hold(_ state: some ShownState) {
        held[state.number, default: 0] += 1
        if held[state.number] == 1 { charge(state.bytes) }
    }

    /// A state is kept by one less.
    func release(_ state: some ShownState) {
        guard let place = held.index(forKey: state.number) else { return }
        if held.values[place] > 1 {
            held.values[place] -= 1
        } else {
            held.remove(at: place)
            charge(-state.bytes)
        }
    }

    /// How many bytes more there would be with a state.
    func cost(of state: some ShownState) -> Int { held[state.number] == nil ? state.bytes : 0 }

    /// What there would be too much of with so many bytes more; nil: there is room.
    func excess(_ limits: HostLimits, with more: Int = 0) -> HostError? {
        guard bytes + more > limits.screenBytesPerUser else { return nil }
        return .limitExceeded(
            limit: "screenBytesPerUser", value: limits.screenBytesPerUser, retryAfter: nil)
    }

    /// Whether there is so much too much that screens have to end.
    ///
    /// Twice as much is usual for a moment: what is shown now and what was sent last count apart, though
    /// they have most in common.
    func isOverdrawn(_ limits: HostLimits) -> Bool { bytes > 2 * limits.screenBytesPerUser }

    /// Counts bytes of its own.
    func charge(_ bytes: Int) {
        self.bytes += bytes
        if bytes > 0 { changed(self) }
    }
}

/// Who is charged for what a view or a focus shows now: one of those who have screens there.
struct Payer<State: ShownState> {
    private var account: ScreenAccount?
    private var state: State?

    /// There is another state to pay for.
    mutating func show(_ state: State) {
        account?.hold(state)
        if let old = self.state { account?.release(old) }
        self.state = state
    }

    /// Somebody's screen came.
    mutating func join(_ account: ScreenAccount, for state: State) {
        guard self.account == nil else { return }
        self.account = account
        self.state = nil
        show(state)
    }

    /// Somebody's screen went; another one of those that are left pays from now on.
    mutating func leave(_ account: ScreenAccount, to next: ScreenAccount?) {
        guard self.account === account, next !== account else { return }
        if let state {
            next?.hold(state)
            account.release(state)
        }
        self.account = next
    }
}

extension ItemView {
    /// About what it takes in memory, as itself and encoded.
    var weight: Int { 400 + id.utf8.count + 2 * fields.count }
}

extension SectionView {
    /// About what it takes in memory, as itself and encoded.
    var weight: Int {
        filters.reduce(200) { $0 + 150 + 2 * ($1.id.utf8.count + $1.title.utf8.count) }
    }
}

extension CommentView {
    /// About what it takes in memory, as itself and encoded.
    var weight: Int { 500 + 2 * (entry.comment.text?.utf8.count ?? 0) }
}

extension Screen.Choices {
    /// About what it takes in memory, where it was chosen and where it is looked up.
    var weight: Int {
        let selected = view.selection.sections.values.joined().reduce(0) {
            $0 + 100 + 4 * $1.utf8.count
        }
        let sort = view.sort.reduce(0) { $0 + 100 + $1.utf8.count }
        let places = view.places.reduce(0) { $0 + 100 + $1.item.utf8.count }
        let hidden = view.hidden.count * 200
        return 2_000 + selected + sort + places + hidden + 4 * view.search.utf8.count
    }
}
