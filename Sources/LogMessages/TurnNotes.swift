internal import Logging

/// What an event loop does in its present turn, for the log of turns that took long.
///
/// Noting is a store: it takes no memory, no lock, and no look at a clock. So the notes say what was done, and
/// of calls alone, which are timed anyway, how long that took.
///
/// Unchecked: guarded by the event loop, on which alone it is touched. What each call touches is not guarded
/// again at each access by the runtime.
public final class TurnNotes: @unchecked Sendable {
    /// Kinds of work beside calls.
    public struct Work: OptionSet, Sendable {
        /// A bit for each.
        public let rawValue: UInt8

        /// Work of these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Outcomes of entries were passed on to containers.
        public static let outcomes = Work(rawValue: 1)
        /// A part of long work was done.
        public static let slice = Work(rawValue: 2)
        /// A timer went off.
        public static let timer = Work(rawValue: 4)
        /// What the store was asked for has arrived.
        public static let read = Work(rawValue: 8)
        /// Something was done that a call had put off.
        public static let later = Work(rawValue: 16)
        /// A stream was written to: a screen, a subscription, an export.
        public static let stream = Work(rawValue: 32)
        /// A worker said something.
        public static let worker = Work(rawValue: 64)

        fileprivate static let names = [
            "outcomes", "slice", "timer", "read", "later", "stream", "worker",
        ]
    }

    /// Calls of one connection.
    public struct Calls: Sendable {
        /// What was called: a bit for each method, by its place among ``TurnNotes/methods``.
        public var methods: UInt128 = 0
        /// The caller's user.
        public var uid: UInt32 = 0
        /// The caller's process.
        public var pid: Int32 = 0
        /// How long they took; 0 where that was not measured.
        public var nanoseconds: Int64 = 0

        /// Calls of nobody.
        public init() {}

        /// The bit of a method; those behind the 127th share one.
        public static func bit(of place: UInt16) -> UInt128 {
            UInt128(1) &<< UInt128(truncatingIfNeeded: min(place, 127))
        }
    }

    /// A component, and where it is.
    public struct Component: Sendable {
        var container: String
        var name: String
        var plugin: String

        /// A component of a container, made by a plugin.
        public init(container: String, name: String, plugin: String) {
            self.container = container
            self.name = name
            self.plugin = plugin
        }
    }

    /// The names of all methods, each at its place.
    public var methods: [String] = []

    /// How many turns are over; 0 where nobody counts them.
    @exclusivity(unchecked) public private(set) var count: UInt64 = 0
    /// What was done beside calls.
    @exclusivity(unchecked) public var work: Work = []
    /// The component that was called last, by the number that it was given.
    @exclusivity(unchecked) public var component = 0
    /// The stream that was written to last.
    @exclusivity(unchecked) public var stream = Calls()

    /// When the first call was read; 0 where none was.
    @exclusivity(unchecked) private var began: Int64 = 0
    /// The calls that took longest, of those that one connection made at once.
    @exclusivity(unchecked) private var longest = Calls()

    private var components: [Int: Component] = [:]
    private var lastComponent = 0
    /// Components that are forgotten with the turn in which they went.
    private var gone: [Int] = []

    /// Nothing is noted yet.
    public init() {}

    /// A call was read at this time, in nanoseconds of the monotonic clock.
    public func begin(at time: Int64) {
        if began == 0 { began = time }
    }

    /// The calls are done that one connection made at once.
    public func end(_ calls: Calls) {
        if calls.nanoseconds > longest.nanoseconds { longest = calls }
    }

    /// Gives a component the number that it is noted by.
    public func add(_ new: Component) -> Int {
        lastComponent += 1
        components[lastComponent] = new
        return lastComponent
    }

    /// Forgets a component, once the turn is over.
    public func remove(_ number: Int) { gone.append(number) }

    /// When the turn began; `time`, where no call was read before that.
    public func start(orElse time: Int64) -> Int64 { began == 0 ? time : min(began, time) }

    /// Forgets what was noted: a turn is over.
    public func clear() {
        count += 1
        work = []
        component = 0
        began = 0
        longest.nanoseconds = 0
        stream.methods = 0
        if !gone.isEmpty { forget() }
    }

    private func forget() {
        for number in gone { components[number] = nil }
        gone = []
    }

    /// What a turn did that took so long, as fields of a line in the log.
    ///
    /// The caller is named whose calls took half of it or more. The component is the one called last.
    func fields(ofTurn nanoseconds: Int64) -> Logger.Metadata {
        var fields: Logger.Metadata = [:]
        if longest.nanoseconds >= nanoseconds / 2 {
            name(longest, &fields)
        } else {
            if work == .stream, longest.nanoseconds == 0 { name(stream, &fields) }
            let kinds = Work.names.enumerated().filter { place, _ in
                work.contains(Work(rawValue: 1 << UInt8(place)))
            }
            let names = kinds.map(\.element) + (longest.nanoseconds > 0 ? ["calls"] : [])
            fields["work"] = "\(names.isEmpty ? "other" : names.joined(separator: ", "))"
        }
        if let component = components[component] {
            fields["container"] = "\(component.container)"
            fields["component"] = "\(component.name)"
            fields["plugin"] = "\(component.plugin)"
        }
        return fields
    }

    private func name(_ calls: Calls, _ fields: inout Logger.Metadata) {
        let names = methods.enumerated().filter { place, _ in
            calls.methods & Calls.bit(of: UInt16(place)) != 0
        }.map(\.element)
        let rest =
            names.count > Self.mostMethods ? " and \(names.count - Self.mostMethods) more" : ""
        if names.isEmpty {
            // What was read is no call.
            fields["work"] = "reading"
        } else {
            fields["method"] = "\(names.prefix(Self.mostMethods).joined(separator: ", ") + rest)"
        }
        fields["peer-uid"] = "\(calls.uid)"
        fields["peer-pid"] = "\(calls.pid)"
    }

    /// Methods that a line names, of calls that were made at once.
    private static let mostMethods = 8
}
