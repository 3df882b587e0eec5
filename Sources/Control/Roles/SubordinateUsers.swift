import Foundation
import Glibc

/// The users as which other users may run processes (`newuidmap`, containers without root).
///
/// A range of 65,536 of them belongs to one person.
public struct SubordinateUsers: Sendable {
    private struct Range {
        var first: UInt32
        var last: UInt32
        var owner: UInt32
    }

    private var ranges: [Range] = []

    /// No subordinate users.
    public static let none = SubordinateUsers("")

    /// The ranges in the system's file; none if it can't be read.
    ///
    /// Blocks, because owners are looked up by name.
    public static func system() -> SubordinateUsers {
        SubordinateUsers((try? String(contentsOfFile: "/etc/subuid", encoding: .utf8)) ?? "")
    }

    /// The owner of subordinate users whose owner is unknown.
    static let unknownOwner = UInt32.max

    /// Reads the system's file without querying the directory of users.
    ///
    /// Ranges whose owner is given by name belong to ``unknownOwner``.
    static func withoutDirectory() -> SubordinateUsers {
        let text = try? String(contentsOfFile: "/etc/subuid", encoding: .utf8)
        return SubordinateUsers(text ?? "") { UInt32($0) ?? unknownOwner }
    }

    /// Reads lines `owner:first:count` as in `subuid(5)`; invalid lines are skipped.
    init(_ text: String, owner: (String) -> UInt32? = Self.user) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let first = UInt32(parts[1]), let count = UInt32(parts[2]),
                first > 0, count > 0, let owner = owner(String(parts[0]))
            else { continue }
            let (last, isBeyond) = first.addingReportingOverflow(count - 1)
            ranges.append(Range(first: first, last: isBeyond ? .max : last, owner: owner))
        }
    }

    /// The owner of a subordinate user; nil: it is not a subordinate.
    func owner(of uid: UInt32) -> UInt32? {
        ranges.first { $0.first <= uid && uid <= $0.last && $0.owner != uid }?.owner
    }

    private static func user(_ name: String) -> UInt32? {
        UInt32(name) ?? getpwnam(name)?.pointee.pw_uid
    }
}
