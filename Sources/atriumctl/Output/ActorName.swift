import Glibc

/// Who did something, as people know them.
enum ActorName {
    /// The login name for `unix:1000`, where this machine has one; else the actor as it is.
    static func shown(_ actor: String) -> String {
        guard actor.hasPrefix("unix:"), let uid = uid_t(actor.dropFirst(5)) else { return actor }
        return user(uid) ?? actor
    }

    /// The actor that a word stands for: the word itself, or the user with this login name; throws for one that is
    /// neither.
    static func full(_ word: String) throws(CommandFailure) -> String {
        guard !word.contains(":") else { return word }
        guard let user = getpwnam(word) else {
            throw CommandFailure(
                "'\(word)' is no user of this machine",
                hint: "write namespace:name, as in web:42 or unix:1000.", status: .usage)
        }
        return "unix:\(user.pointee.pw_uid)"
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
