import AtriumKit
import Logging

/// The bytes that a slot's component keeps for its successor.
///
/// A component that a dry run tries, or whose definition is not committed yet, replaces nothing of the one that is
/// there: its bytes are written once it is attached.
final class KeptBytes {
    private unowned let slot: Slot
    /// The bytes to write once the component is attached, where `.some(nil)` removes the bytes; nil: nothing.
    private var unwritten: [UInt8]??

    init(of slot: Slot) { self.slot = slot }

    /// The name of the file with these bytes.
    var name: String { "\(slot.containerName).\(slot.name)" }

    /// Reads what the previous component kept, on a thread of its own if there is anything.
    func read(then: @escaping ([UInt8]?) -> Void) {
        guard let files = slot.domain.kept else { return then(nil) }
        files.read(
            name, for: slot.definition.keptDigest, atMost: slot.domain.limits.keptBytes, then: then)
    }

    /// Keeps bytes for the component; nil removes them.
    func write(_ bytes: [UInt8]?) {
        guard slot.container?.slot(slot.name) === slot else {
            unwritten = .some(bytes)
            return
        }
        let most = slot.domain.limits.keptBytes
        guard bytes?.count ?? 0 <= most else {
            return slot.domain.logger.warning(
                "a component's kept bytes exceed limits.keptBytes",
                metadata: slot.logFields([
                    "reason": "It has \(bytes?.count ?? 0) bytes, and limits.keptBytes is \(most)."
                ]))
        }
        slot.domain.kept?.keep(bytes, as: name, for: slot.definition.keptDigest)
    }

    /// Writes what the component wanted kept before it was attached.
    func writeRest() {
        guard let bytes = unwritten else { return }
        unwritten = nil
        write(bytes)
    }

    /// Removes the kept bytes of a component that was detached or replaced, unless its successor has the same plugin
    /// and settings.
    func drop(unlessFor successor: ComponentDefinition?) {
        slot.domain.kept?.drop(name, unlessFor: successor?.keptDigest)
    }
}

extension ComponentDefinition {
    /// A digest of the plugin and the settings: kept bytes are valid only for the same digest.
    ///
    /// The settings contain references to secrets, not the secrets.
    fileprivate var keptDigest: UInt64 {
        var digest = Digest()
        digest.add(plugin)
        digest.add(.object(settings))
        return digest.value
    }
}
