/// The declared members read so far in one object, by number, to find duplicates.
///
/// It is for types whose members are known; ``JSONKeySet`` is for names of any kind.
public struct JSONMemberSet: Sendable {
    @usableFromInline var bits: UInt64 = 0

    /// Makes an empty set.
    @inlinable
    public init() {}

    /// Adds a member.
    ///
    /// - Parameters:
    ///   - number: The member's number, from 0 to 63.
    ///   - key: Its name, just read.
    ///   - json: The reader, for the error.
    /// - Throws: ``JSONError`` where it was added before.
    @inlinable
    public mutating func insert(
        _ number: Int, named key: JSONKey, in json: JSONReader
    ) throws(JSONError) {
        let bit = UInt64(1) << UInt64(number)
        guard bits & bit == 0 else { throw json.duplicateMember(key) }
        bits |= bit
    }
}
