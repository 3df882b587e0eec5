import AtriumKit

extension Screen {
    /// What was chosen on it, and stays with it.
    struct Choices {
        var view: ViewKey { didSet { seen = nil } }
        var subject: Subject { didSet { seen = nil } }
        /// What a delegate was asked about just this as; nil: none was.
        private var seen: Seen?

        /// One object for all who hold it: of screens without a delegate it takes a pointer's room.
        private final class Seen {
            let choices: ScreenChoices

            init(_ choices: ScreenChoices) { self.choices = choices }
        }

        init(view: ViewKey = ViewKey(), subject: Subject = .container) {
            self.view = view
            self.subject = subject
        }
    }
}

extension Screen.Choices {
    /// As a delegate sees it.
    var asSeen: ScreenChoices { seen?.choices ?? ScreenChoices(self) }

    /// As a delegate sees it, which is kept for when one is asked what was shown before.
    mutating func keepAsSeen() -> ScreenChoices {
        if let seen { return seen.choices }
        let choices = ScreenChoices(self)
        seen = Seen(choices)
        return choices
    }

    /// Takes the key of the view that shows this, which may stand elsewhere by now: all who share a view hold it once.
    mutating func share(_ key: ViewKey) {
        let kept = key.places == view.places ? seen : nil
        view = key
        seen = kept
    }
}
