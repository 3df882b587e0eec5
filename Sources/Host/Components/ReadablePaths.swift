import AtriumKit
import Dispatch
import Glibc
import NIOCore

/// The files and folders that a component in a worker may read because its settings name them.
///
/// None of them may expose the store, or files with secrets, which are kept from workers. Links are resolved: the
/// check is made on their targets, and these are what the worker gets.
struct ReadablePaths: Sendable {
    /// The paths in settings, by setting.
    var named: [String: String]
    /// The folder of the store.
    var state: String
    /// The paths of files with secrets, and of the folder with the service's credentials.
    var secrets: [String]

    /// Takes the absolute paths from the settings that may name one.
    init(_ settings: [String: Value], named: [String], state: String, secrets: [String]) {
        self.named = [:]
        for name in named {
            if let path = settings[name]?.text, path.hasPrefix("/") { self.named[name] = path }
        }
        self.state = state
        self.secrets = secrets
        if let credentials = getenv("CREDENTIALS_DIRECTORY") {
            self.secrets.append(String(cString: credentials))
        }
    }

    /// Resolves links on a thread of its own, because a network file system may be slow; `then` gets the sorted paths
    /// that the worker may read, or the setting that is refused, synchronously when there are no paths.
    func resolve(
        on loop: any EventLoop, then: @escaping (Result<[String], SettingError>) -> Void
    ) {
        guard !named.isEmpty else { return then(.success([])) }
        let then = NIOLoopBound(then, eventLoop: loop)
        // Not on the shared executor, which has one thread for each processor: a path that hangs would keep it.
        DispatchQueue(label: "atrium.paths").async {
            let result = Result { () throws(SettingError) in try resolved() }
            loop.execute { then.value(result) }
        }
    }

    func resolved() throws(SettingError) -> [String] {
        let state = Self.resolved(state)
        let secrets = secrets.map { ($0, Self.resolved($0)) }
        var paths: [String] = []
        for (setting, path) in named.sorted(by: { $0.key < $1.key }) {
            let whole = Self.resolved(path)
            let name = whole == path ? path : "\(path), which leads to \(whole),"
            if Self.isInside(whole, in: state) || Self.isInside(state, in: whole) {
                throw SettingError(
                    setting,
                    "\(name) gives away the daemon's own files in \(state), which no plugin in a process of its own "
                        + "may read: name a folder apart from them")
            }
            if let secret = secrets.first(where: {
                Self.isInside($0.1, in: whole) || Self.isInside(whole, in: $0.1)
            }) {
                throw SettingError(
                    setting,
                    "\(name) gives away \(secret.0), where secrets are, which no plugin in a process of its own may "
                        + "read: name a folder apart from it")
            }
            paths.append(whole)
        }
        return paths
    }

    private static func isInside(_ path: String, in folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// A path without links; the path itself if it does not exist.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
