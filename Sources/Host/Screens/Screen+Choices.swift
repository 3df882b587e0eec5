import AtriumKit

extension Screen {
    /// The choices made on a screen.
    struct Choices {
        var view: ViewKey { didSet { seen = nil } }
        var subject: Subject { didSet { seen = nil } }
        /// These choices as a delegate saw them; nil: no delegate did.
        private var seen: ScreenChoices?

        init(view: ViewKey = ViewKey(), subject: Subject = .container) {
            self.view = view
            self.subject = subject
        }
    }
}

extension Screen.Choices {
    /// The choices as a delegate sees them.
    var asSeen: ScreenChoices { seen ?? ScreenChoices(self) }

    /// The choices as a delegate sees them, kept for later comparison.
    mutating func keepAsSeen() -> ScreenChoices {
        if let seen { return seen }
        let choices = ScreenChoices(self)
        seen = choices
        return choices
    }

    /// Adopts the key of the view that shows these choices, so that its screens share one copy; places may have
    /// changed.
    mutating func share(_ key: ViewKey) {
        let kept = key.places == view.places ? seen : nil
        view = key
        seen = kept
    }
}
