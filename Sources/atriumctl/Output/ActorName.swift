import Glibc

/// Who did something, as people know them.
enum ActorName {
    /// The login name for `unix:1000`, where this machine has one; else the actor as it is.
    static func shown(_ actor: String) -> String {
        guard actor.hasPrefix("unix:"), let uid = uid_t(actor.dropFirst(5)) else { return actor }
        return user(uid) ?? actor
    }

    /// The login name of a user; nil for a number that nobody has.
    static func user(_ uid: uid_t) -> String? {
        getpwuid(uid).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
    }

    /// The name of a group; nil for a number that nobody has.
    static func group(_ gid: gid_t) -> String? {
        getgrgid(gid).flatMap { $0.pointee.gr_name }.map { String(cString: $0) }
    }
}
