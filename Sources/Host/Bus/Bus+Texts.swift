internal import Store

// The texts of comments in the notifications about them.
extension Bus {
    /// Returns the text of a notification's comment, which may have come with it from a read of the past; nil when
    /// there is none, or the comment can't be read at present.
    func text(of notification: BusNotification, past: CommentText? = nil) -> CommentText? {
        guard let comment = notification.comment, let text = texts[comment, past] else {
            return nil
        }
        return isReadable(comment, text.item) ? text : nil
    }

    /// Records a comment's new text from a sequence on; undelivered notifications about it get the new text.
    func change(_ comment: RecordKey, to text: CommentText?, at sequence: Int64) {
        if texts.change(comment, to: text, at: sequence) { dropBatches() }
    }

    /// Forgets the texts of comments that were removed at a sequence without being listed one by one.
    func removeTexts(at sequence: Int64, where isGone: (RecordKey, CommentText) -> Bool) {
        texts.remove(at: sequence, where: isGone)
        dropBatches()
    }

    /// Records that an item, component or container was added or removed, so that comments became readable or
    /// unreadable.
    func readabilityChanged() {
        if !texts.isEmpty { dropBatches() }
    }

    /// Drops the shared batches, which may hold texts that are out of date.
    func dropBatches() {
        for group in groups.values { sharedBytesLeft += group.dropBatches() }
    }
}
