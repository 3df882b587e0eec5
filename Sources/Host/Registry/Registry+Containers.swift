import AtriumKit

// Containers as clients see them.
extension Registry {
    /// All containers, sorted by name.
    public func list() -> [ContainerStatus] {
        containers.values.sorted { $0.name < $1.name }.map(ContainerStatus.init(of:))
    }

    /// The last durable sequence that lists, screens and notifications reflect.
    public var sequence: Int64 { domain.commits.sequence }

    /// Describes one container, with its own votes and comments.
    ///
    /// - Throws: `containerNotFound`.
    public func describe(_ name: String) throws(HostError) -> ContainerDescription {
        guard let container = containers[name] else { throw .containerNotFound(name) }
        return ContainerDescription(
            status: ContainerStatus(of: container),
            votes: container.first(.votes).flatMap {
                $0.isShown ? $0.tally(of: .container) ?? Tally() : nil
            },
            comments: container.first(.comments).flatMap {
                $0.isShown ? $0.commentCount(of: .container) ?? 0 : nil
            },
            sequence: domain.commits.sequence)
    }
}
