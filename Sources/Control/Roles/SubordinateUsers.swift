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

    /// Whose a user is who is somebody's subordinate, where nobody knows who that is.
    static let unknownOwner = UInt32.max

    /// As ``system()``, without asking the directory of users: owners that the file names belong to
    /// ``unknownOwner``.
    static func withoutDirectory() -> SubordinateUsers {
        let text = try? String(contentsOfFile: "/etc/subuid", encoding: .utf8)
        return SubordinateUsers(text ?? "") { UInt32($0) ?? unknownOwner }
    }

    /// Reads lines `owner:first:count` as in `subuid(5)`; those that make no sense are passed over.
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

    /// Whose subordinate a user is; nil: nobody's.
    func owner(of uid: UInt32) -> UInt32? {
        ranges.first { $0.first <= uid && uid <= $0.last && $0.owner != uid }?.owner
    }

    private static func user(_ name: String) -> UInt32? {
        UInt32(name) ?? getpwnam(name)?.pointee.pw_uid
    }
}
