internal import Store

// What comments say, in the notifications about them.
extension Bus {
    /// What a notification's comment says to those who may see it.
    ///
    /// - Parameters:
    ///   - notification: what is being told.
    ///   - past: what was read of its comment with a part of the past.
    /// - Returns: the text; nil: nothing that anyone sees.
    func text(of notification: BusNotification, past: CommentText? = nil) -> CommentText? {
        guard let comment = notification.comment, let text = texts[comment, past] else {
            return nil
        }
        return isReadable(comment, text.item) ? text : nil
    }

    /// A comment's record says something else from a sequence on: so does what was not told yet.
    func change(_ comment: RecordKey, to text: CommentText?, at sequence: Int64) {
        if texts.change(comment, to: text, at: sequence) { dropBatches() }
    }

    /// Comments went with a sequence without being named one by one.
    func forgetTexts(at sequence: Int64, where isGone: (RecordKey, CommentText) -> Bool) {
        texts.forget(at: sequence, where: isGone)
        dropBatches()
    }

    /// An item, a component or a container came or went, and the comments with it.
    func readabilityChanged() {
        if !texts.isEmpty { dropBatches() }
    }

    /// What subscribers share was put together with texts that may not stand any more.
    func dropBatches() {
        for group in groups.values { sharedBytesLeft += group.dropBatches() }
    }
}
