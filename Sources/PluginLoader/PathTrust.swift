internal import Glibc

/// Whether a file is as it is by the will of those who may decide what runs here alone: nobody else owns it
/// or may write to it, nor to a folder or link on the way to it.
struct PathTrust {
    /// As many links as the kernel follows on the way to a file.
    private static let mostLinks = 40

    /// The users who may decide; root is always one.
    let owners: Set<UInt32>

    private enum Step {
        /// A folder or file to go on from; nil: there is nothing.
        case reached(String?)
        /// A link, and where it leads.
        case link(String)
    }

    /// What is wrong with a file or folder, as a sentence that says what to do; nil: nothing, or it is not
    /// there.
    ///
    /// Its path is from the root or from the working folder.
    func problem(with path: String) -> String? {
        var current = "/"
        var rest = Array(Self.names(in: Self.absolute(path)).reversed())
        var links = 0
        do throws(Distrust) {
            try check("/", isLast: rest.isEmpty)
            while let name = rest.popLast() {
                switch try step(to: name, from: current, isLast: rest.isEmpty) {
                case .reached(nil): return nil
                case .reached(let next?): current = next
                case .link(let target):
                    links += 1
                    guard links <= Self.mostLinks else {
                        throw Distrust("\(path) leads through too many links")
                    }
                    if target.hasPrefix("/") { current = "/" }
                    rest += Self.names(in: target).reversed()
                }
            }
            return nil
        } catch {
            return error.reason
        }
    }

    private struct Distrust: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private func step(
        to name: String, from current: String, isLast: Bool
    ) throws(Distrust) -> Step {
        if name == ".." {
            return .reached("/" + Self.names(in: current).dropLast().joined(separator: "/"))
        }
        let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
        guard let mode = try check(next, isLast: isLast) else { return .reached(nil) }
        guard mode & S_IFMT == S_IFLNK else { return .reached(next) }
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(next, &target, target.count)
        guard count > 0 else { return .reached(nil) }
        return .link(String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Checks one folder, link or file; gives its mode, nil where there is nothing.
    @discardableResult
    private func check(_ path: String, isLast: Bool) throws(Distrust) -> mode_t? {
        var info = stat()
        guard lstat(path, &info) == 0 else { return nil }
        let mode = info.st_mode
        guard info.st_uid == 0 || owners.contains(info.st_uid) else {
            throw Distrust(
                "\(path) belongs to the user \(info.st_uid), who could put anything there: its "
                    + "owner has to be root or the daemon's user")
        }
        // A link's own mode means nothing.
        guard mode & S_IFMT != S_IFLNK else { return mode }
        // In a sticky folder nobody replaces what is another's: it is fine on the way.
        if !isLast, mode & S_IFMT == S_IFDIR, mode & S_ISVTX != 0 { return mode }
        let others = mode & S_IWOTH != 0
        let group = mode & S_IWGRP != 0 && !isPrivate(group: info.st_gid, of: info.st_uid)
        guard others || group else { return mode }
        let change = [group ? "g-w" : nil, others ? "o-w" : nil].compactMap { $0 }
            .joined(separator: ",")
        throw Distrust(
            "\(path) may be written to by others (mode \(String(mode & 0o7777, radix: 8))), who "
                + "could put anything there: 'chmod \(change) \(path)'")
    }

    /// Whether nobody but a user is in a group: as where each user has one of its own.
    private func isPrivate(group: gid_t, of user: uid_t) -> Bool {
        guard let account = getpwuid(user), account.pointee.pw_gid == group else { return false }
        let name = String(cString: account.pointee.pw_name)
        guard let entry = getgrgid(group), String(cString: entry.pointee.gr_name) == name else {
            return false
        }
        var member = entry.pointee.gr_mem
        while let next = member?.pointee {
            if String(cString: next) != name { return false }
            member = member?.successor()
        }
        return true
    }

    private static func names(in path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
