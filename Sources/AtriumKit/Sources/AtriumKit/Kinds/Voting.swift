/// One actor's vote on one subject.
///
/// There is one at most for each pair, by key.
@frozen
public struct Ballot: Sendable, Hashable, Codable {
    /// What it is about.
    public var subject: Subject
    /// Whose it is.
    public var actor: ActorID
    /// The value, on the component's scale.
    public var value: Double
    /// When it was cast, or last changed.
    public var cast: Timestamp

    /// A ballot.
    public init(subject: Subject, actor: ActorID, value: Double, cast: Timestamp) {
        self.subject = subject
        self.actor = actor
        self.value = value
        self.cast = cast
    }

    /// The key under which this actor's ballot on this subject is kept: the item's id (empty for
    /// the container), a line feed (which no id holds), the actor's number.
    public static func key(actor: ActorID, subject: Subject) -> String {
        var item = subject.item ?? ""
        return item.withUTF8 { item in
            // A number has at most 20 bytes.
            String(unsafeUninitializedCapacity: item.count + 21) { key in
                _ = key.update(fromContentsOf: item)
                key[item.count] = UInt8(ascii: "\n")
                var rest = actor.number.magnitude
                var (start, end) = (item.count + 1, item.count + 1)
                if actor.number < 0 {
                    key[start] = UInt8(ascii: "-")
                    (start, end) = (start + 1, end + 1)
                }
                repeat {
                    key[end] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                    end += 1
                } while rest > 0
                key[start..<end].reverse()
                return end
            }
        }
    }

    /// The ballot that a record holds: `{"value": …, "cast": …}`; nil when it is malformed.
    public init?(key: String, value: Value) {
        guard let (subject, actor) = Ballot.parse(key: key) else { return nil }
        self.init(subject: subject, actor: actor, record: value)
    }

    /// The ballot whose record has this value, its key read already; nil when it is malformed.
    public init?(subject: Subject, actor: ActorID, record value: Value) {
        guard let object = value.object, let number = object["value"]?.number,
            let cast = object["cast"]?.int
        else { return nil }
        self.init(
            subject: subject, actor: actor, value: number, cast: Timestamp(milliseconds: cast))
    }

    /// Whose ballot on what a key stands for; nil when it is no ballot's key.
    public static func parse(key: String) -> (subject: Subject, actor: ActorID)? {
        var key = key
        return key.withUTF8 { key in
            guard let separator = key.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
            let digits = key[(separator + 1)...]
            guard let number = plainNumber(digits) ?? Int64(String(decoding: digits, as: UTF8.self))
            else { return nil }
            let item = String(decoding: key[..<separator], as: UTF8.self)
            return (item.isEmpty ? .container : .item(item), ActorID(number))
        }
    }

    /// A number of digits alone, so few that it can't but fit; nil for any other.
    private static func plainNumber(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard (1...18).contains(digits.count) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The ballot as a record.
    public var record: Change {
        .put(
            key: Ballot.key(actor: actor, subject: subject),
            value: ["value": .number(value), "cast": .int(cast.milliseconds)])
    }
}

/// What the votes on one subject add up to.
public struct Tally: Sendable, Hashable, Codable {
    /// How many ballots.
    public var count: Int
    /// The ranking value, nil without ballots.
    public var score: Double?
    /// Ballots by value, written as the value is on the wire: `"4"`, `"4.5"`.
    public var histogram: [String: Int]

    /// A tally; by default of no ballots.
    public init(count: Int = 0, score: Double? = nil, histogram: [String: Int] = [:]) {
        self.count = count
        self.score = score
        self.histogram = histogram
    }
}

/// The kind `votes`: judges ballots and keeps tallies.
public protocol Voting: Component {
    /// Asked before a change and notified after it; not called while records are restored.
    var delegate: (any VotingDelegate)? { get set }

    /// Which votes it takes: asked once, when the component is made.
    var facts: VoteFacts { get }

    /// The type of ``tallies``: an array, or any other sequence.
    associatedtype Tallies: Sequence<(subject: Subject, tally: Tally)>

    /// Every subject that has ballots, with its tally, in any order: asked for after a restore.
    ///
    /// The host goes through them a few at a time, and calls the component in between: what it goes through must
    /// stay as it was when asked for. Arrays, dictionaries and what is made of these lazily do; of many subjects let
    /// it be lazy, so that nothing is done for all of them at once.
    var tallies: Tallies { get }

    /// Decides on a ballot cast or changed. One that is there with the same value changes nothing; the
    /// changes are of this ballot's record alone.
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on taking a ballot back. None there changes nothing.
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// The tally of a subject.
    func tally(of subject: Subject) -> Tally

    /// An actor's ballot on a subject, nil when there is none.
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot?

    /// The ballots on a subject by actor, after one actor, at most so many.
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot]

    /// The keys of all records about a subject, for erasing them.
    func recordKeys(about subject: Subject) -> [String]
}

extension Voting {
    /// Any number, on anything.
    public var facts: VoteFacts { VoteFacts() }
}

/// Votes that take ballots at a start, where they would else read each from its record.
///
/// A host that has read records as ``Ballot/record`` makes them may hand over what they hold, and call
/// ``Component/apply(_:)`` for any others alone. It may just as well call `apply` for each.
public protocol BallotRestoring: Voting {
    /// Takes over some ballots, as if their records had been applied; called as often as needed, before any other call
    /// but `apply`.
    ///
    /// - Parameter ballots: mostly those on one subject after one another.
    func restore(_ ballots: [Ballot])
}

/// What a ``Voting`` asks before a change and notifies after it.
public protocol VotingDelegate: AnyObject {
    /// The tally of a subject is now this.
    func voting(_ votes: any Voting, didChange tally: Tally, of subject: Subject)
}
