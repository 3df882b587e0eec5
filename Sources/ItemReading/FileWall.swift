internal import Glibc

/// What may keep a service from a file, apart from the file's own rights.
package enum FileWall {
    /// Which wall there is, and who opens it.
    ///
    /// - Parameters:
    ///   - path: What could not be read, from `/` on.
    ///   - code: What the kernel said.
    /// - Returns: A part of a sentence; nil: there is no wall that can be seen.
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
