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
        guard browser.screen.root.revision > 0 else { return }
        parameters.withLock { parameters in
            parameters.filters = browser.screen.root.selection
            parameters.scope = browser.screen.root.scope
            parameters.search = browser.screen.search(of: "")
            parameters.sort = browser.screen.sort(of: "")
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
