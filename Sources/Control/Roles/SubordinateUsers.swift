import Foundation
import Glibc

/// The users that other users may run processes as (`newuidmap`, containers without root): not 65,536 people,
/// but one.
public struct SubordinateUsers: Sendable {
    private struct Range {
        var first: UInt32
        var last: UInt32
        var owner: UInt32
    }

    private var ranges: [Range] = []

    /// Nobody has any.
    public static let none = SubordinateUsers("")

    /// What the system's file says; none where it can't be read.
    ///
    /// Blocks: whose they are is looked up by name.
    public static func system() -> SubordinateUsers {
        SubordinateUsers((try? String(contentsOfFile: "/etc/subuid", encoding: .utf8)) ?? "")
    }

    /// Reads lines `owner:first:count` as in `subuid(5)`; those that make no sense are passed over.
    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let first = UInt32(parts[1]), let count = UInt32(parts[2]),
                first > 0, count > 0, let owner = Self.user(String(parts[0]))
            else { continue }
            let (last, isBeyond) = first.addingReportingOverflow(count - 1)
            ranges.append(Range(first: first, last: isBeyond ? .max : last, owner: owner))
        }
    }

    /// Whose subordinate a user is; nil: nobody's.
    func owner(of uid: UInt32) -> UInt32? {
        ranges.first { $0.first <= uid && uid <= $0.last && $0.owner != uid }?.owner
    }

    private static func user(_ name: String) -> UInt32? {
        UInt32(name) ?? getpwnam(name)?.pointee.pw_uid
    }
}
