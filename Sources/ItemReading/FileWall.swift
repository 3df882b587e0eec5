internal import Glibc

/// The sandbox of a service as the reason why it can't read a file, apart from the file's own mode.
package enum FileWall {
    /// Returns what keeps the process from a file at an absolute path, by the system's error number, and which
    /// setting opens it, as a part of a sentence; nil: no such reason was found.
    package static func reason(_ path: String, _ code: Int32) -> String? {
        guard [ENOENT, EACCES, EPERM].contains(code) else { return nil }
        for home in ["/home", "/root", "/run/user"] where (path + "/").hasPrefix(home + "/") {
            guard access(home, X_OK) != 0, errno == EACCES else { continue }
            return
                "the unit hides home directories (ProtectHome=): install share/atrium/drop-ins/home.conf"
        }
        guard code == ENOENT, path.hasPrefix("/tmp/") || path.hasPrefix("/var/tmp/"),
            getenv("INVOCATION_ID") != nil
        else { return nil }
        return "a service has a /tmp of its own (PrivateTmp=): lay it elsewhere, such as in /srv"
    }
}
