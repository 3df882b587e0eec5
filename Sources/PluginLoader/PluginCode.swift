/// What a plugin's components are made of.
public enum PluginCode: Sendable, Hashable {
    /// A library that has their class, at a path: loaded into the daemon or into a worker.
    case library(String)
    /// A program, at a path, that a worker starts and asks: it may be written in any language.
    case program(String)

    /// Where it is.
    public var path: String {
        switch self {
        case .library(let path), .program(let path): path
        }
    }

    /// The code at its path from a folder.
    func inside(_ folder: String) -> PluginCode {
        switch self {
        case .library(let path): .library("\(folder)/\(path)")
        case .program(let path): .program("\(folder)/\(path)")
        }
    }
}
