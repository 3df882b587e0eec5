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

/// The last revisions that a screen has sent, from which its reader may resume.
///
/// The user's account is charged for what they hold, and for nothing that consecutive ones share.
struct SentFrames {
    private let account: ScreenAccount
    private var frames: Deque<Screen.Frame> = []

    /// Without frames.
    init(of account: ScreenAccount) { self.account = account }

    /// The last frame; nil: nothing was sent.
    var last: Screen.Frame? { frames.last }

    /// The frame of a revision; nil: it is not kept.
    func frame(of revision: Int) -> Screen.Frame? { frames.first { $0.revision == revision } }

    /// Keeps a sent frame; where memory is short, earlier ones are dropped.
    mutating func keep(_ frame: Screen.Frame, _ limits: HostLimits) {
        if frames.last?.revision == frame.revision { dropLast() }
        let isShort = account.bytes > limits.screenBytesPerUser / 2
        let most = isShort ? 1 : max(limits.screenRevisions, 1)
        while frames.count >= most { dropFirst() }
        append(frame)
    }

    /// Drops all frames but the last, which gets another number; with nil it is dropped too.
    mutating func keepLast(as revision: Int?) {
        let last = frames.last
        removeAll()
        guard let revision, let last else { return }
        append(Screen.Frame(revision: revision, content: last.content, parts: last.parts))
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
