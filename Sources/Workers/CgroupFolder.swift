internal import Glibc

/// A cgroup, as a folder of the kernel's file system.
struct CgroupFolder: Sendable {
    let path: String

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
        for name in names { rmdir(path + "/" + name) }
    }

    /// The names of the folders in this one; none if it can't be read.
    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard entry.pointee.d_type == UInt8(DT_DIR), name != ".", name != ".." else { continue }
            names.append(name)
        }
        return names
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

    /// Returns the words of one of its files; none if it can't be read.
    func words(of file: String) -> [Substring] {
        let descriptor = open(path + "/" + file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        // The kernel returns at most a page of whole words in a read.
        var (buffer, bytes) = ([UInt8](repeating: 0, count: 4_096), [UInt8]())
        while bytes.count < 64 << 10 {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }
}
