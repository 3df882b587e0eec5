import Dispatch
import Glibc
import Logging
import NIOCore

/// The bytes that components keep over restarts: one file for each, in a folder beside the store.
///
/// Use it on the loop; files are read and written on a queue, one after the other. The files are an aid, and not
/// part of the store: a failed write is logged, and a file that can't be read counts as missing.
final class KeptFiles {
    private let folder: String
    private let loop: any EventLoop
    private let logger: Logger
    private let queue = DispatchQueue(label: "atrium.kept")
    /// The names of the files that may exist.
    private var names: Set<String>
    /// The bytes to write after the write in progress, for each name that has one.
    ///
    /// Nil: nothing more.
    private var coming: [String: Bytes?] = [:]
    private var isEnded = false

    /// Bytes to keep, and the digest of their definition.
    private struct Bytes {
        let bytes: [UInt8]
        let digest: UInt64
    }

    /// Opens the folder beside a store's file.
    init(beside file: String, on loop: any EventLoop, _ logger: Logger) {
        folder = (file.lastIndex(of: "/").map { String(file[...$0]) } ?? "") + "kept"
        self.loop = loop
        self.logger = logger
        names = Self.names(in: folder)
    }

    private static func names(in folder: String) -> Set<String> {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: Set<String> = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.insert(name) }
        }
        return names
    }

    /// Reads the bytes that a component's predecessor of the same definition kept; `then` is called during this call
    /// if there is no such file.
    func read(
        _ name: String, for digest: UInt64, atMost most: Int, then: @escaping ([UInt8]?) -> Void
    ) {
        guard names.contains(name) else { return then(nil) }
        let then = NIOLoopBound(then, eventLoop: loop)
        queue.async { [path = "\(folder)/\(name)", loop] in
            let file = KeptFile.read(path, for: digest, atMost: most)
            loop.execute { then.value(file?.bytes) }
        }
    }

    /// Keeps bytes in place of the earlier ones; nil: keeps none.
    func keep(_ bytes: [UInt8]?, as name: String, for digest: UInt64) {
        guard !isEnded else { return }
        guard let bytes else { return drop(name) }
        names.insert(name)
        let isWriting = coming[name] != nil
        coming[name] = .some(Bytes(bytes: bytes, digest: digest))
        if !isWriting { writeNext(name) }
    }

    private func writeNext(_ name: String) {
        guard let next = coming[name] ?? nil else {
            coming[name] = nil
            return
        }
        coming[name] = .some(nil)
        let back = NIOLoopBound(self, eventLoop: loop)
        queue.async { [folder, loop, bytes = next.bytes, digest = next.digest] in
            let code = KeptFile(bytes, for: digest).write(into: folder, as: name)
            loop.execute { back.value.wrote(name, code) }
        }
    }

    private func wrote(_ name: String, _ code: Int32) {
        if code != 0 {
            logger.warning(
                "a component's kept bytes can't be written",
                metadata: [
                    "path": "\(folder)/\(name)", "reason": "\(String(cString: strerror(code)))",
                ])
        }
        if !isEnded { writeNext(name) }
    }

    /// Deletes what is kept for a component, unless it is of the definition with this digest.
    func drop(_ name: String, unlessFor digest: UInt64? = nil) {
        if let next = coming[name] ?? nil, next.digest != digest { coming[name] = .some(nil) }
        guard names.contains(name) else { return }
        if digest == nil { names.remove(name) }
        queue.async { [path = "\(folder)/\(name)"] in
            if let digest, KeptFile.isOf(digest, path) { return }
            unlink(path)
        }
    }

    /// Deletes the files of components that don't exist, and those of writes that were cut off.
    func dropAll(but present: Set<String>) {
        for name in names.subtracting(present) { drop(name) }
    }

    /// Ends the keeping of bytes, and writes what was still waiting; the returned closure waits until everything is
    /// on disk, and is to be called off the loop.
    func end() -> @Sendable () -> Void {
        isEnded = true
        for (name, next) in coming {
            guard let next else { continue }
            queue.async { [folder] in
                _ = KeptFile(next.bytes, for: next.digest).write(into: folder, as: name)
            }
        }
        coming = [:]
        return { [queue] in queue.sync {} }
    }
}
