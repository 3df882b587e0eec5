import Interfaces
import Synchronization

/// What the person has chosen, for who opens the screen anew: they are on other threads.
final class SharedChoices: Sendable {
    private let parameters: Mutex<Screens.Open.Parameters>

    init(_ parameters: Screens.Open.Parameters) {
        self.parameters = Mutex(parameters)
    }

    /// Sets them, as they are shown now.
    func set(_ browser: Browser) {
        // Before the first revision nothing is known of it.
        guard browser.root.revision > 0 else { return }
        parameters.withLock { parameters in
            parameters.filters = browser.root.selection
            parameters.scope = browser.root.scope
            parameters.search = browser.searches[""]
            parameters.sort = browser.sorts[""]
        }
    }

    /// Puts them into parameters that open a screen.
    func update(_ opened: inout Screens.Open.Parameters) {
        let chosen = parameters.withLock { $0 }
        opened.filters = chosen.filters
        opened.scope = chosen.scope
        opened.search = chosen.search
        opened.sort = chosen.sort
    }
}
