import AtriumKit

/// Records that a component takes over as they are: part of work that holds the component's gate.
final class RestoreCommand: Command {
    private let entry: (Decision) -> EntryDraft?
    private let commit: () -> Void
    private let done: Answer<Decided>

    init(
        _ changes: [Change], to slot: Slot, of container: Container, _ context: CommandContext,
        entry: @escaping (Decision) -> EntryDraft?, atCommit commit: @escaping () -> Void = {},
        done: @escaping Answer<Decided>
    ) {
        self.entry = entry
        self.commit = commit
        self.done = done
        super.init(.restoreRecords(changes), on: slot, of: container, context, passesGate: true)
    }

    override func draft(of decision: Decision) -> EntryDraft? { entry(decision) }
    override func atCommit() { commit() }
    override func end(_ result: Result<Decided, HostError>) { done(result) }
}
