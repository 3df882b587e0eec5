public import AtriumKit

/// The delegate of a compilation: it sends who chooses a filter a message that names it.
///
/// All else is as without it: the list is filtered, and votes and comments follow.
public final class CompilationDelegate: ContainerDelegate {
    /// What people call a filter, by its id.
    private let titles: [String: String]

    private static let titles = Setting.object(
        "titles", "what messages call a filter, by its id; absent: the id"
    ).defaulting(to: [:])

    /// What it understands.
    override public class var settings: [Setting] { [titles.setting] }

    /// Makes it.
    public required init(context: DelegateContext) throws {
        titles = context.settings[Self.titles].compactMapValues(\.text)
        try super.init(context: context)
    }

    /// Says what was selected.
    override public func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {
        container?.message("You chose \(titles[filter] ?? filter).", on: screen)
    }

    /// Says what was taken back.
    override public func filters(
        _ component: ComponentReference, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {
        container?.message("You no longer choose \(titles[filter] ?? filter).", on: screen)
    }

    /// Says that nothing is filtered.
    override public func filters(_ component: ComponentReference, didClearOn screen: String) {
        container?.message("All tracks.", on: screen)
    }
}

/// Exports the delegate.
@c(atrium_plugin_org_atrium_examples_compilation)
public func compilationDelegatePlugin() -> UnsafeMutableRawPointer {
    exportPlugin(CompilationDelegate.self)
}
