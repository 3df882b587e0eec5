internal import Glibc

/// A cgroup, as a folder of the kernel's file system.
struct CgroupFolder: Sendable {
    let path: String

    var files: KernelFolder { KernelFolder(path: path) }

    /// An operation that the kernel refused, as a sentence.
    struct Problem: Error, CustomStringConvertible {
        let description: String
        let code: Int32

        init(_ what: String, _ code: Int32) {
            self.code = code
            description = "\(what): \(String(cString: strerror(code)))."
        }
    }

    /// Makes a cgroup in this one; throws if it exists.
    func make(_ name: String) throws(Problem) -> CgroupFolder {
        let child = CgroupFolder(path: path + "/" + name)
        guard mkdir(child.path, 0o755) == 0 else {
            throw Problem("The cgroup \(child.path) can't be made", errno)
        }
        return child
    }

    /// Returns a cgroup in this one, which is made if it does not exist.
    func find(_ name: String) throws(Problem) -> CgroupFolder {
        do throws(Problem) {
            return try make(name)
        } catch  where error.code == EEXIST {
            return CgroupFolder(path: path + "/" + name)
        }
    }

    /// Removes this cgroup, and returns whether it is gone; it can't be removed while it contains a process or a
    /// cgroup.
    func remove() -> Bool { rmdir(path) == 0 || errno == ENOENT }

    /// Removes the cgroups in this one that contain no process.
    func removeEmpty() {
        for name in files.names { rmdir(path + "/" + name) }
    }

    /// Writes to one of its files.
    func write(_ text: String, to file: String) throws(Problem) {
        let path = path + "/" + file
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Problem("\(path) can't be opened", errno) }
        defer { close(descriptor) }
        let count = text.utf8.count
        guard Glibc.write(descriptor, text, count) == count else {
            throw Problem("'\(text)' can't be written to \(path)", errno)
        }
    }
}
