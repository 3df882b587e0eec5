public import AtriumKit

/// The delegate of a scope of people: it leads on to the one who is chosen, and cares for nothing else.
public final class StaffDelegate: ContainerDelegate {
    private let person: String

    private static let person = Setting.text(
        "person", "the container that shows one person"
    ).required()

    /// What it understands.
    override public class var settings: [Setting] { [person.setting] }

    /// Makes it.
    public required init(context: DelegateContext) throws {
        person = context.settings[Self.person]
        guard !person.isEmpty else {
            throw SettingError("person", "name the container that shows one person")
        }
        try super.init(context: context)
    }

    /// Leads to the one who was chosen.
    override public func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {
        container?.lead(screen, to: person, item: item)
    }
}

/// Exports the delegate.
@c(atrium_plugin_org_atrium_examples_staff)
public func staffDelegatePlugin() -> UnsafeMutableRawPointer { exportPlugin(StaffDelegate.self) }
