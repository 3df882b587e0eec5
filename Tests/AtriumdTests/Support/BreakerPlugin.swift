import Foundation
import TestSupport

extension TemporaryDirectory {
    /// Adds a plugin's folder with the library that the tests break things with.
    ///
    /// - Parameters:
    ///   - name: the folder's name, and what the plugin's id ends with.
    ///   - kind: what kind of component it is.
    ///   - more: further members of its manifest, in JSON, each after a comma.
    /// - Throws: what the file system says.
    func addBreaker(_ name: String, kind: String = "contents", more: String = "") throws {
        try write(
            "\(name)/manifest.json",
            """
            {"id": "org.atrium.\(name)", "version": "0.1.0", "kind": "\(kind)", "library": "libBreaker.so",
             "title": "\(name)"\(more)}
            """)
        try FileManager.default.copyItem(
            atPath: Checkout.products + "/libBreaker.so",
            toPath: "\(path)/\(name)/libBreaker.so")
    }
}
