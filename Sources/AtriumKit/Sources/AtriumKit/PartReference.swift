/// A container that is a part of another one, for that one's delegate.
public struct PartReference: Sendable, Hashable {
    /// The name of its component; for a part of a part both names, with a `/` between.
    ///
    /// If the container is a part in several places, this is one of the outermost, the first in the definition's order.
    public var path: String
    /// The name of the container itself.
    public var container: String

    /// Creates a reference.
    public init(path: String, container: String) {
        self.path = path
        self.container = container
    }
}
