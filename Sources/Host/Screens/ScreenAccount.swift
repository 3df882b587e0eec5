import AtriumKit

/// A state that screens show, with its approximate memory.
protocol ShownState: AnyObject {
    /// Identifies the state among all states of any type.
    var number: UInt64 { get }
    /// Its approximate size in bytes, including its encoded forms.
    var bytes: Int { get }
}

/// The approximate memory that one user's screens use.
///
/// A state that several of the user's screens show is counted once. A view or a focus that several users share is
/// counted for one of them; what was last sent is counted for each.
final class ScreenAccount {
    let owner: String
    /// The user's screens.
    var screens: [ScreenID: Screen] = [:]
    private(set) var bytes = 0
    /// Whether some of its screens will be ended soon.
    var isRelieved = false

    /// How many times each state is held.
    private var held: [UInt64: Int] = [:]
    private let changed: (ScreenAccount) -> Void

    /// Creates the account of a user's screens; `changed` is called when the number of bytes has grown.
    init(_ owner: String, changed: @escaping (ScreenAccount) -> Void) {
        self.owner = owner
        self.changed = changed
    }

    /// Counts a state as held once more.
    func retain(_ state: some ShownState) {
        let count = Self.increased(&held[state.number, default: 0])
        if count == 1 { charge(state.bytes) }
    }

    private static func increased(_ count: inout Int) -> Int {
        count += 1
        return count
    }

    /// Counts a state as held once less.
    func release(_ state: some ShownState) {
        guard let place = held.index(forKey: state.number) else { return }
        if held.values[place] > 1 {
            held.values[place] -= 1
        } else {
            held.remove(at: place)
            charge(-state.bytes)
        }
    }

    /// The bytes that a state would add.
    func cost(of state: some ShownState) -> Int { held[state.number] == nil ? state.bytes : 0 }

    /// The error if this many more bytes would exceed the limit; nil: they would not.
    func excess(_ limits: HostLimits, with more: Int = 0) -> HostError? {
        guard bytes + more > limits.screenBytesPerUser else { return nil }
        return .limitExceeded(
            limit: "screenBytesPerUser", value: limits.screenBytesPerUser, retryAfter: nil)
    }

    /// Whether the limit is exceeded by so much that screens have to be ended.
    ///
    /// Twice the limit is usual for a moment: the present state and the last sent one are counted separately,
    /// although they share most of their memory.
    func isOverdrawn(_ limits: HostLimits) -> Bool { bytes > 2 * limits.screenBytesPerUser }

    /// Adds bytes that belong to no state.
    func charge(_ bytes: Int) {
        self.bytes += bytes
        if bytes > 0 { changed(self) }
    }
}

/// The account charged for the present state of a view or a focus: that of a user with screens there.
struct Payer<State: ShownState> {
    private var account: ScreenAccount?
    private var state: State?

    /// Replaces the state that is charged.
    mutating func show(_ state: State) {
        account?.retain(state)
        if let old = self.state { account?.release(old) }
        self.state = state
    }

    /// Adds the account of a screen that was added.
    mutating func join(_ account: ScreenAccount, for state: State) {
        guard self.account == nil else { return }
        self.account = account
        self.state = nil
        show(state)
    }

    /// Removes the account of a screen that was removed; the account of a remaining screen takes over.
    mutating func leave(_ account: ScreenAccount, to next: ScreenAccount?) {
        guard self.account === account, next !== account else { return }
        if let state {
            next?.retain(state)
            account.release(state)
        }
        self.account = next
    }
}

extension ItemView {
    /// Its approximate memory in bytes, including its encoded form.
    var weight: Int { 400 + id.utf8.count + 2 * fields.count }
}

extension SectionView {
    /// Its approximate memory in bytes, including its encoded form.
    var weight: Int {
        filters.reduce(200) { $0 + 150 + 2 * ($1.id.utf8.count + $1.title.utf8.count) }
    }
}

extension CommentView {
    /// Its approximate memory in bytes, including its encoded form.
    var weight: Int { 500 + 2 * (entry.comment.text?.utf8.count ?? 0) }
}

extension Screen.Choices {
    /// Their approximate memory in bytes, including the keys under which they are found.
    var weight: Int {
        let selected = view.selection.sections.values.joined().reduce(0) {
            $0 + 100 + 4 * $1.utf8.count
        }
        let sort = view.sort.reduce(0) { $0 + 100 + $1.utf8.count }
        let path = view.path.reduce(0) { $0 + 100 + $1.item.utf8.count }
        let hidden = view.hidden.count * 200
        return 2_000 + selected + sort + path + hidden + 4 * view.search.utf8.count
    }
}
