import AtriumKit
import Glibc
import JSONCodec
import Logging

/// The plugins that the daemon was calling when it crashed.
///
/// Their components live in workers from then on, whatever definitions say. Their delegates are left out, since a
/// delegate can't live in a worker.
///
/// They are kept in a file beside the store, until the plugin's own file changes or an administrator releases the
/// plugin. A release takes effect at the next start.
final class IsolatedPlugins {
    /// Why a plugin is isolated.
    struct Cause: Equatable {
        /// The component or delegate that was called.
        var called: InitNote.Component
        /// The plugin's library, and what distinguishes it from other files at its path.
        var path: String
        var identity: String
        /// When the crash was noticed.
        var since: String
    }

    private static let name = "atrium.isolated"

    private let folder: String
    private let logger: Logger
    private var causes: [String: Cause] = [:]

    /// Reads the file beside the store's, and adds the plugin of the component or delegate that was called when the
    /// previous process crashed.
    init(
        beside store: String, crashed: InitNote.Component?, path: (String) -> String?,
        now: Timestamp, logger: Logger
    ) {
        folder = store.lastIndex(of: "/").map { String(store[..<$0]) } ?? "."
        self.logger = logger
        let read = Self.read(file, logger)
        for cause in read where Self.identity(of: cause.path) == cause.identity {
            causes[cause.called.plugin] = cause
        }
        if let crashed, let path = path(crashed.plugin), let identity = Self.identity(of: path) {
            causes[crashed.plugin] = Cause(
                called: crashed, path: path, identity: identity, since: now.text)
        }
        if causes.count != read.count || crashed != nil { write() }
    }

    /// Why a plugin is isolated, as a sentence; nil: it is not.
    func reason(of plugin: String) -> String? {
        causes[plugin].map { $0.sentence(of: plugin) }
    }

    /// Why plugins are isolated, as sentences.
    var reasons: [String] {
        causes.sorted { $0.key < $1.key }.map { $0.value.sentence(of: $0.key) }
    }

    /// Releases a plugin: from the next start on it lives where definitions say; returns whether it was isolated.
    func release(_ plugin: String) -> Bool {
        guard causes.removeValue(forKey: plugin) != nil else { return false }
        write()
        return true
    }

    private var file: String { "\(folder)/\(Self.name)" }

    private func write() {
        guard !causes.isEmpty else {
            unlink(file)
            return log(AtomicFile.sync(folder))
        }
        let bytes = Payload.object { json in
            json.key("plugins")
            json.beginArray()
            for (_, cause) in causes.sorted(by: { $0.key < $1.key }) { cause.write(to: &json) }
            json.endArray()
        }
        log(AtomicFile.write([bytes], into: folder, as: Self.name))
    }

    private func log(_ code: Int32) {
        guard code != 0 else { return }
        logger.warning(
            "the list of plugins that crashed the daemon could not be written: a restart may not know them",
            metadata: ["path": "\(file)", "reason": "\(String(cString: strerror(code)))"])
    }

    private static func read(_ file: String, _ logger: Logger) -> [Cause] {
        let descriptor = NoteFile.open(file, O_RDONLY, logger)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0, let value: JSONValue = try? JSON.decode(from: Array(bytes[..<count]))
        else { return [] }
        return value["plugins"]?.array?.compactMap(Cause.init) ?? []
    }

    /// The identity of a file among others at its path; nil: there is no file.
    private static func identity(of path: String) -> String? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        return
            "\(info.st_ino)-\(info.st_size)-\(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)"
    }
}

extension IsolatedPlugins.Cause {
    fileprivate init?(_ value: JSONValue) {
        guard let called = InitNote.Component(value), let path = value["path"]?.string,
            let identity = value["identity"]?.string, let since = value["since"]?.string
        else { return nil }
        self.init(called: called, path: path, identity: identity, since: since)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("container", called.container)
        json.member("component", called.component)
        json.member("plugin", called.plugin)
        json.member("path", path)
        json.member("identity", identity)
        json.member("since", since)
        json.endObject()
    }

    fileprivate func sentence(of plugin: String) -> String {
        let end =
            "until its file changes, or 'atriumctl plugin release \(plugin)' and a restart of the daemon"
        if called.isDelegate {
            return
                "The daemon crashed while it called \(called.component) of \(called.container), which it knows since "
                + "\(since): delegates of the plugin \(plugin) are left out, \(end)."
        }
        return
            "The daemon crashed while it called the component \(called.container)/\(called.component), which it knows "
            + "since \(since): components of the plugin \(plugin) live in processes of their own, \(end)."
    }
}
