/// What the registry has beside what its containers share, which is the ``Domain``.
///
/// Used on the event loop alone.
final class RegistryState {
    let domain: Domain
    /// The containers by name.
    var containers: [String: Container] = [:]
    /// Containers that are being made.
    var creating: Set<String> = []
    let structure = StructureQueue()
    let expected = ExpectedContainers()
    let erasures = Erasures()
    let exports = ExportTable()
    let backups = BackupTable()
    let verifications = VerificationTable()
    var rates = WriteRates()
    /// How many definitions of containers were gone from the store at the start; nil: none was.
    var lostDefinitions: String?
    /// What the process before was making when it ended.
    let left: InitNote.Component?

    init(_ domain: Domain, left: InitNote.Component?) {
        self.domain = domain
        self.left = left
    }
}
