import DequeModule

extension Screen {
    /// The content that a revision showed; immutable.
    final class Frame {
        let revision: Int
        let content: Content
        /// The content of the parts.
        let parts: [ShownPart]

        init(revision: Int, content: Content, parts: [ShownPart]) {
            self.revision = revision
            self.content = content
            self.parts = parts
        }
    }
}

/// The revisions that a screen has made, of which the last ones are kept, so that its reader may resume from them.
///
/// The user's account is charged for what they hold, and for nothing that consecutive ones share.
struct SentRevisions {
    /// The greatest revision that a reader may claim; a greater one could not be counted exactly.
    private static let most = 1 << 53

    private let account: ScreenAccount
    private var frames: Deque<Screen.Frame> = []
    /// The last revision that was made.
    private(set) var number = 0
    /// The last revision that a caller was promised.
    private var promised = 0
    /// Whether the next pull must return a revision: the first pull of each reader.
    private(set) var owesFirst = false
    /// After a resumption, the frame that the next revision is based on, in place of the last one.
    private var resumed: Screen.Frame?
    /// Why the reader gets a whole revision although it asked to resume.
    private var reset: String?
    /// Whether they continue those of another process, which alone knew its earlier ones.
    private var isRestored = false

    /// Without revisions.
    init(of account: ScreenAccount) { self.account = account }

    /// The frame that the next revision is based on, because the reader has it; nil: it has none.
    var base: Screen.Frame? { owesFirst ? resumed : frames.last }

    /// The last revision's frame; nil: nothing was sent.
    var last: Screen.Frame? { frames.last?.revision == number ? frames.last : nil }

    /// Whether the reader gets a revision even if nothing has changed.
    var isDue: Bool { owesFirst || promised > number }

    // MARK: Readers

    /// Starts with another reader; `reset` says why it gets a whole revision although it asked to resume; if
    /// `isQuiet`, nothing is sent as long as its revision is current.
    mutating func attach(from claimed: Int?, reset: String?, isQuiet: Bool) {
        resumed = claimed.flatMap { claimed in frames.first { $0.revision == claimed } }
        if resumed == nil { removeAll() }
        self.reset = reset
        if resumed == nil, let claimed, reset == nil {
            self.reset =
                isRestored
                ? "The daemon was started anew, and goes on with what was chosen."
                : "Revision \(claimed) is not known any more."
            // A process that crashed may have made later revisions than it had written.
            if isRestored { number = max(number, min(claimed, Self.most)) }
        }
        owesFirst = !isQuiet || resumed == nil || claimed != number
    }

    /// Promises the next revision to a caller.
    mutating func promiseNext() { promised = max(promised, number + 1) }

    /// The last revision that was made or promised.
    var newest: Int { max(number, promised) }

    /// Continues the revisions of another process; `isSame`: its last one showed the same as the last one here.
    mutating func restore(_ number: Int, isSame: Bool) {
        self.number = number
        isRestored = true
        let last = frames.last
        removeAll()
        guard isSame, let last else { return }
        append(Screen.Frame(revision: number, content: last.content, parts: last.parts))
    }

    // MARK: Frames

    /// Makes the next revision; `isNew`: it is another one, although it may show the same as the reader's; returns
    /// its frame, and why the reader gets a whole one, if it asked to resume.
    mutating func make(
        _ content: Screen.Content, _ parts: [ShownPart], isNew: Bool, _ limits: HostLimits
    ) -> (frame: Screen.Frame, reset: String?) {
        // A resumed revision that has not changed keeps its number.
        if isNew || base?.revision != number || promised > number { number += 1 }
        let frame = Screen.Frame(revision: number, content: content, parts: parts)
        keep(frame, limits)
        defer { (owesFirst, resumed, reset) = (false, nil, nil) }
        return (frame, reset)
    }

    /// Keeps a sent frame; where memory is short, earlier ones are dropped.
    private mutating func keep(_ frame: Screen.Frame, _ limits: HostLimits) {
        if frames.last?.revision == frame.revision { dropLast() }
        let isShort = account.bytes > limits.screenBytesPerUser / 2
        let most = isShort ? 1 : max(limits.screenRevisions, 1)
        while frames.count >= most { dropFirst() }
        append(frame)
    }

    /// Drops all frames.
    mutating func removeAll() {
        while !frames.isEmpty { dropFirst() }
    }

    // Focuses seldom change between frames, so consecutive frames share theirs.

    private mutating func append(_ frame: Screen.Frame) {
        let snapshot = frame.content.snapshot
        account.retain(snapshot.view)
        if frames.last?.content.snapshot.focus !== snapshot.focus { account.retain(snapshot.focus) }
        for part in frame.parts { part.retain(in: account) }
        frames.append(frame)
    }

    private mutating func dropFirst() { release(frames.removeFirst(), beside: frames.first) }

    private mutating func dropLast() { release(frames.removeLast(), beside: frames.last) }

    private func release(_ frame: Screen.Frame, beside next: Screen.Frame?) {
        let snapshot = frame.content.snapshot
        account.release(snapshot.view)
        if next?.content.snapshot.focus !== snapshot.focus { account.release(snapshot.focus) }
        for part in frame.parts { part.release(in: account) }
    }
}
