/// One actor's vote on one subject.
///
/// There is at most one for each pair, by key.
@frozen
public struct Ballot: Sendable, Hashable, Codable {
    /// The subject.
    public var subject: Subject
    /// The actor who voted.
    public var actor: ActorID
    /// The value, on the component's scale.
    public var value: Double
    /// The time at which it was cast, or last changed.
    public var cast: Timestamp

    /// Creates a ballot.
    public init(subject: Subject, actor: ActorID, value: Double, cast: Timestamp) {
        self.subject = subject
        self.actor = actor
        self.value = value
        self.cast = cast
    }

    /// Returns the record key of an actor's ballot on a subject.
    ///
    /// It is the item's id (empty for the container), a line feed (which no id contains), and the actor's number.
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

    /// Reads a ballot from a record: `{"value": …, "cast": …}`; nil if it is malformed.
    public init?(key: String, value: Value) {
        guard let (subject, actor) = Ballot.parse(key: key) else { return nil }
        self.init(subject: subject, actor: actor, record: value)
    }

    /// Reads a ballot from its record's value, when the key is parsed already; nil if it is malformed.
    public init?(subject: Subject, actor: ActorID, record value: Value) {
        guard let object = value.object, let number = object["value"]?.number,
            let cast = object["cast"]?.int
        else { return nil }
        self.init(
            subject: subject, actor: actor, value: number, cast: Timestamp(milliseconds: cast))
    }

    /// Returns the subject and actor of a ballot's key; nil if it is no ballot's key.
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

    /// Parses 1 to 18 decimal digits; nil for any other text.
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

/// The kind `votes`: judges ballots and keeps tallies.
public protocol Voting: Component {
    /// Asked before a change and notified after it; not called while records are restored.
    var delegate: (any VotingDelegate)? { get set }

    /// The votes that the component accepts; read once, when the component is made.
    var facts: VoteFacts { get }

    /// The type of ``tallies``: an array, or any other sequence.
    associatedtype Tallies: Sequence<(subject: Subject, tally: Tally)>

    /// The subjects that have ballots, with their tallies, in any order; read after a restore.
    ///
    /// The host iterates in pieces and calls the component in between, so the sequence must not change meanwhile
    /// (arrays, dictionaries and lazy maps of them do not). Return a lazy sequence if there are many subjects.
    var tallies: Tallies { get }

    /// Decides on a ballot that is cast or changed.
    ///
    /// One with the same value as before changes nothing; the changes are of this ballot's record only.
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on retracting a ballot; without one, nothing changes.
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// Returns the tally of a subject.
    func tally(of subject: Subject) -> Tally

    /// Returns an actor's ballot on a subject; nil if there is none.
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot?

    /// Returns at most `limit` ballots on a subject, ordered by actor, starting after an actor.
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot]

    /// Returns the keys of all records about a subject, for erasing them.
    func recordKeys(about subject: Subject) -> [String]
}

extension Voting {
    /// By default any number, on items and the container.
    public var facts: VoteFacts { VoteFacts() }
}

/// Votes that accept ballots at a start, in place of their records.
///
/// A host that has read records in the form of ``Ballot/record`` may pass their ballots, and call
/// ``Component/apply(_:)`` only for other records. It may also call `apply` for each.
public protocol BallotRestoring: Voting {
    /// Takes over some ballots, as if their records had been applied; may be called several times, before any other
    /// call but `apply`.
    ///
    /// - Parameter ballots: the ballots; mostly, those on one subject follow one another.
    func restore(_ ballots: [Ballot])
}

/// The delegate that a ``Voting`` asks before a change and notifies after it.
public protocol VotingDelegate: AnyObject {
    /// The tally of a subject changed to this.
    func voting(_ votes: any Voting, didChange tally: Tally, of subject: Subject)
}
