public import AtriumKit

/// The delegate of a scope of organisations and their units: who comes back from a unit wants to see the organisations
/// as they are now.
public final class UnitsDelegate: ContainerDelegate {
    /// Asks for a reload by a notification, `CONTAINER.back`, when a user comes back to the top: whoever cares listens.
    override public func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        if let shown, !shown.path.isEmpty, next.path.isEmpty { container?.publish("back", [:]) }
        return next
    }
}

/// Exports the delegate.
@c(atrium_plugin_org_atrium_examples_units)
public func unitsDelegatePlugin() -> UnsafeMutableRawPointer { exportPlugin(UnitsDelegate.self) }
