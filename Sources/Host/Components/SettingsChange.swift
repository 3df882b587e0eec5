import AtriumKit
import PluginLoader

/// A change of the settings of a slot's component, which goes on with the new ones and is not made anew.
///
/// The order: the component is asked whether it can; the definition is committed; the component takes the settings. Work
/// that needs these waits for the end, which is also reached when the component is lost and another one is started.
final class SettingsChange {
    private unowned let slot: Slot
    /// The callbacks that wait for settings that were passed; nil: the component has them.
    private var waiting: [() -> Void]?

    init(of slot: Slot) { self.slot = slot }

    /// Asks the component whether it can go on with the settings of another definition, which is the same otherwise.
    func canTake(_ new: ComponentDefinition, _ done: @escaping (Bool) -> Void) {
        let old = slot.definition
        // What a worker may read is fixed when it is started.
        let paths = slot.plugin?.paths ?? []
        guard slot.isAttached, new.hasSameRuntime(as: old),
            paths.allSatisfy({ new.settings[$0] == old.settings[$0] })
        else { return done(false) }
        slot.requests.ask(.canTake(new.settings), for: slot, passesGate: true) { result in
            if case .success(.canTake(true)) = result { done(true) } else { done(false) }
        }
    }

    /// Gives the component the settings of its present definition, which it has answered that it can take.
    func send() {
        waiting = []
        // It was lost since, and a start that has begun has the settings of before.
        guard slot.isAttached, let port = slot.port else { return slot.start.run {} }
        port.apply(slot.definition.settings) { [weak slot] in
            guard let slot, slot.port === port else { return }
            guard port.asks == slot.asks else {
                return slot.restart(
                    because: "canTake returned true, but with the new settings it "
                        + "\(slot.asks ? "is not" : "is") a source that is queried: it is restarted."
                )
            }
            slot.settingsApplied()
            slot.settingsChange.end()
        }
    }

    /// Calls back once the component, or one that was started in its place, has the settings that were passed; also if
    /// it has failed, or its start is stalled.
    func whenOver(_ done: @escaping () -> Void) {
        if waiting == nil { done() } else { waiting?.append(done) }
    }

    /// Ends the wait for settings that were passed.
    func end() {
        let waiting = waiting ?? []
        self.waiting = nil
        // Later, because this may run in the middle of a start.
        for done in waiting { slot.domain.timers.later(done) }
    }
}

extension ComponentDefinition {
    /// Whether components made from both run the same code in the same way, whatever their settings are.
    func hasSameRuntime(as other: ComponentDefinition) -> Bool {
        plugin == other.plugin && isolation == other.isolation && callSeconds == other.callSeconds
    }
}
