import AtriumKit
import Dispatch
import Glibc
import Logging
import NIOCore

/// What components have kept over restarts: a file for each in a folder beside the store.
///
/// Used on the loop; files are read and written on a queue of their own, one after the other. They are a help, and no
/// part of the store: one that can't be written is logged, and what can't be read is as if it were not there.
final class KeptFiles {
    private let folder: String
    private let loop: any EventLoop
    private let logger: Logger
    private let queue = DispatchQueue(label: "atrium.kept")
    /// The files that there may be.
    private var names: Set<String>
    /// What is to be written once the write under way has ended.
    ///
    /// Nil: nothing; without a write there is no entry.
    private var coming: [String: Bytes?] = [:]
    private var isEnded = false

    /// What is to be kept, and for which definition.
    private struct Bytes {
        let bytes: [UInt8]
        let digest: UInt64
    }

    /// What is kept in the folder beside a store.
    ///
    /// - Parameters:
    ///   - file: The store's.
    ///   - loop: Where this is used.
    ///   - logger: Hears what can't be written.
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

    /// Reads what a component's predecessor had kept.
    ///
    /// - Parameters:
    ///   - name: Of the component's file.
    ///   - digest: Of its definition.
    ///   - most: How many bytes are kept at most.
    ///   - then: Takes it; called during this call where there is no such file.
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

    /// Keeps bytes instead of those that are kept; nil: none.
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
                "what a component has kept can't be written",
                metadata: [
                    "path": "\(folder)/\(name)", "reason": "\(String(cString: strerror(code)))",
                ])
        }
        if !isEnded { writeNext(name) }
    }

    /// Keeps nothing of a component any more.
    ///
    /// - Parameters:
    ///   - name: Of its file.
    ///   - digest: Of a definition for which it is kept on; nil: none.
    func drop(_ name: String, unlessFor digest: UInt64? = nil) {
        if let next = coming[name] ?? nil, next.digest != digest { coming[name] = .some(nil) }
        guard names.contains(name) else { return }
        if digest == nil { names.remove(name) }
        queue.async { [path = "\(folder)/\(name)"] in
            if let digest, KeptFile.isOf(digest, path) { return }
            unlink(path)
        }
    }

    /// Drops what is kept of components that are not there, or of a write that was cut off.
    func dropAll(but present: Set<String>) {
        for name in names.subtracting(present) { drop(name) }
    }

    /// Nothing is kept from now on.
    ///
    /// - Returns: Waits until all is on the disk that was to be; to be called off the loop.
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
