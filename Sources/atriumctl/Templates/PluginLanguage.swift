import ArgumentParser

enum PluginKind: String, CaseIterable, ExpressibleByArgument {
    case contents, filters, votes, comments, delegate

    /// Its name with a capital, as in the names of interfaces.
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// The languages that plugins may begin in.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
    case swift, python, rust, go

    /// Its name in sentences.
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// What its programs begin with; nil: its plugins are libraries.
    var program: ProgramTemplate? {
        switch self {
        case .swift: nil
        case .python: PythonTemplate.program
        case .rust: RustTemplate.program
        case .go: GoTemplate.program
        }
    }

    /// The kinds of plugins that may begin in it.
    var kinds: [PluginKind] {
        guard let program else { return PluginKind.allCases }
        return PluginKind.allCases.filter { program.bodies[$0] != nil }
    }

    /// What builds a plugin before it is checked; nil: the check builds it, or nothing is to be built.
    var build: String? {
        switch self {
        case .swift, .python: nil
        case .rust: "cargo build --release"
        case .go: "CGO_ENABLED=0 go build"
        }
    }

    /// What runs the conformance suite.
    var check: String { self == .swift ? "swift test" : "atrium-worker --check ." }
}
