public import Varlink

/// The interfaces that plugins serve which are programs: what a worker calls them for.
///
/// The daemon describes them, so that their authors can read them, and answers none of their methods. Everything else in
/// this module is generated from the `.varlink` files beside this file.
public enum PluginProtocols {
    /// All of them.
    public static let all: [any VarlinkInterface.Type] = [
        Contents.self, Filters.self, Votes.self, Comments.self,
    ]
}
