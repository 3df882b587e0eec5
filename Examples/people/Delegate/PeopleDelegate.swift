public import AtriumKit

/// The delegate of a search for people: it posts that somebody types, and leads on to whom they choose.
public final class PeopleDelegate: ContainerDelegate {
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

    /// Says that somebody types, as `CONTAINER.typed`, and how many letters there are: what they are is nobody's business.
    override public func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        if next.search != shown?.search ?? "" {
            container?.publish("typed", ["letters": .int(Int64(next.search.count))])
        }
        return next
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
@c(atrium_plugin_org_atrium_examples_people)
public func peopleDelegatePlugin() -> UnsafeMutableRawPointer {
    exportPlugin(PeopleDelegate.self)
}
