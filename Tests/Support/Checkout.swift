import Foundation

/// Where the tests come from, and what was built with them.
public enum Checkout {
    /// The checkout that they were built from, without a slash at the end.
    public static let root = folder(URL(filePath: #filePath), up: 3)

    /// The folder of what the build made: the tests' own.
    public static let products = folder(URL(filePath: "/proc/self/exe"), up: 1)

    /// The Python that `make test-deps` gave what some tests need; nil without.
    public static let python: String? = {
        let path = root + "/.build/venv/bin/python3"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    private static func folder(_ file: URL, up levels: Int) -> String {
        let parts = file.resolvingSymlinksInPath().pathComponents.dropFirst().dropLast(levels)
        return "/" + parts.joined(separator: "/")
    }
}
