public import AtriumKit

/// The outline of a container that screens show, so that front ends need not guess.
///
/// The object stays the same as long as its contents do.
public final class ContainerOutline: Sendable {
    /// The title that people read.
    public let title: String
    /// The items' fields, in order.
    public let fields: [Field]
    /// The scopes, by name and title; empty: there are none.
    public let scopes: [(name: String, title: String)]

    init(_ definition: ContainerDefinition) {
        title = definition.title ?? definition.name
        fields = definition.fields
        scopes = definition.scopes.map { ($0.name, $0.title ?? $0.name) }
    }

    /// Returns this outline, or a new one if the definition has changed.
    func now(_ definition: ContainerDefinition) -> ContainerOutline {
        let now = ContainerOutline(definition)
        let isSame =
            Optional(title).isSame(as: now.title) && fields.isSame(as: now.fields)
            && scopes.count == now.scopes.count
            && zip(scopes, now.scopes).allSatisfy {
                $0.name == $1.name && Optional($0.title).isSame(as: $1.title)
            }
        return isSame ? self : now
    }
}
