import AtriumKit
import Glibc
import NIOCore

/// The files and folders that a component in a worker may read, since settings of its plugin name them.
///
/// None of them may give away what a worker is kept from: the store, and the files that secrets are in. Links are
/// followed: it is what they lead to that counts, and that a worker is given.
struct ReadablePaths: Sendable {
    /// The paths that settings name, by setting.
    var named: [String: String]
    /// Where the store is.
    var state: String
    /// The files that secrets are in, and the folder of the service's credentials.
    var secrets: [String]

    /// The paths of a plugin's settings that name a whole one.
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

    /// Follows links on a thread, which may take as long as a network's file system does.
    ///
    /// - Parameters:
    ///   - loop: where it comes back.
    ///   - then: what the worker may read, sorted, or which setting may not be what it is; called during this call where
    ///     there is nothing to follow.
    func resolve(
        on loop: any EventLoop, then: @escaping (Result<[String], SettingError>) -> Void
    ) {
        guard !named.isEmpty else { return then(.success([])) }
        let then = NIOLoopBound(then, eventLoop: loop)
        Task(executorPreference: QuietExecutor.shared) {
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
            if Self.lies(whole, in: state) || Self.lies(state, in: whole) {
                throw SettingError(
                    setting,
                    "\(name) gives away the daemon's own files in \(state), which no plugin in a process of its own "
                        + "may read: name a folder apart from them")
            }
            if let secret = secrets.first(where: {
                Self.lies($0.1, in: whole) || Self.lies(whole, in: $0.1)
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

    private static func lies(_ path: String, in folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// A path without links; what is not there as it is written.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
