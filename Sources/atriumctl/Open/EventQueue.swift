import Glibc
import Interfaces
import Synchronization

/// What happens beside the keys, in order, for a thread that waits for descriptors.
final class EventQueue: Sendable {
    /// Replies and events of the daemon.
    enum Event: Sendable {
        /// A revision of the screen that was opened as the n-th.
        case revision(Screens.Open.Reply, of: Int)
        /// The connection was lost, and is being made again.
        case lost(CommandFailure, of: Int)
        /// There will be no more revisions.
        case ended(CommandFailure?, of: Int)
        /// What was asked of a screen, by its id, was done.
        case done(Request, revision: Int?, text: String?, on: String)
        case found([Section.Filters], for: FilterLookup.Question)
        case page([ScreenModel.List.Entry], next: String?, of: Tail.Query)
        case outline(ContainerOutline, of: String)
        case queue(ModerationQueue)
        case failed(Request, CommandFailure, on: String, part: String)
        /// Whether the person may moderate.
        case mayModerate(Bool)
    }

    private let events = Mutex<[Event]>([])
    /// Can be read as long as there are events.
    let descriptor: Int32
    private let writing: Int32

    /// Throws where the system has no more descriptors.
    init() throws {
        (descriptor, writing) = try Self.pipe()
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    func post(_ event: Event) {
        events.withLock { $0.append(event) }
        var byte: UInt8 = 0
        // A full pipe says enough.
        _ = write(writing, &byte, 1)
    }

    /// Takes all there are.
    func drain() -> [Event] {
        _ = Self.bytes(from: descriptor)
        return events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Two ends of a pipe, neither of which is waited for.
    static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw CommandFailure("no pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        return (ends[0], ends[1])
    }

    /// What can be read without waiting.
    static func bytes(from descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}
