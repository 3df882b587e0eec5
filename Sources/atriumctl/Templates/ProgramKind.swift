/// What the templates of a kind have in common, whatever the program's language.
struct ProgramKind {
    /// What the program does, as the rest of "NAME: ".
    let title: String
    /// What it has to keep.
    let rules: String
    /// More members of the manifest: paths, and settings that the conformance suite uses.
    var members = ""
    /// The settings that a component has to be given when it is attached.
    var options = ""
}

extension PluginKind {
    /// What programs of this kind have in common; nil: they are libraries.
    var program: ProgramKind? {
        switch self {
        case .contents: .contents
        case .filters: .filters
        case .votes: .votes
        case .comments: .comments
        case .delegate: nil
        }
    }
}

extension ProgramKind {
    fileprivate static let contents = ProgramKind(
        title: "the files of a folder, read again every ten seconds.",
        rules: """
            Whatever the plugin does, an item keeps its id: votes and comments refer to it.
            """,
        members: """
            ,
              "paths": ["folder"],
              "conformance": { "settings": { "folder": "/usr/share/common-licenses" } }
            """,
        options: " --setting folder=/usr/share/common-licenses")

    fileprivate static let filters = ProgramKind(
        title: "a section of filters for each field that a setting names, by its values.",
        rules: """
            Whatever the plugin does, the same values give the same sections, and a filter keeps its id: screens and links
            refer to it. The conformance suite checks these rules, and names the seed that makes a failure happen again.
            """,
        members: """
            ,
              "conformance": { "settings": { "fields": ["genres", "year"] } }
            """,
        options: " --setting 'fields=[\"genres\"]'")

    fileprivate static let votes = ProgramKind(
        title: "thumbs up (1) and down (-1). The score of an item is their sum.",
        rules: """
            Whatever the plugin does, it keeps three rules. Cast and Retract decide and change nothing. Apply and Restore alone
            change state. The score follows from the ballots that are there, in whatever order they came. The conformance suite
            checks these rules, and names the seed that makes a failure happen again.
            """)

    fileprivate static let comments = ProgramKind(
        title: "comments. Those with links wait for a moderator, and shouting is refused.",
        rules: """
            Whatever the plugin does, Post and Edit decide and change nothing: the commit may still fail. The conformance suite
            checks that, and names the seed that makes a failure happen again.
            """)
}
