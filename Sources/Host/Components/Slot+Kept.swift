import AtriumKit
import Logging

// The bytes that a component keeps for its successor.
extension Slot {
    /// The name of the file with these bytes.
    var keptName: String { "\(containerName).\(name)" }

    /// Reads what the previous component kept, on a thread of its own if there is anything.
    func readKept(then: @escaping ([UInt8]?) -> Void) {
        guard let kept = domain.kept else { return then(nil) }
        kept.read(
            keptName, for: definition.keptDigest, atMost: domain.limits.keptBytes, then: then)
    }

    /// Keeps bytes for the component; nil removes them.
    ///
    /// A component that a dry run tries, or whose definition is not committed yet, replaces nothing of the one that is
    /// there: its bytes are kept once it is attached.
    func keep(_ bytes: [UInt8]?) {
        guard container?.slot(name) === self else {
            unkept = .some(bytes)
            return
        }
        let most = domain.limits.keptBytes
        guard bytes?.count ?? 0 <= most else {
            return domain.logger.warning(
                "a component's kept bytes exceed limits.keptBytes",
                metadata: logFields([
                    "reason": "It has \(bytes?.count ?? 0) bytes, and limits.keptBytes is \(most)."
                ]))
        }
        domain.kept?.keep(bytes, as: keptName, for: definition.keptDigest)
    }

    /// Removes the kept bytes of a component that was detached or replaced.
    ///
    /// - Parameter successor: the definition of the new component, for which the bytes are kept if its plugin and
    ///   settings are the same.
    func dropKept(unlessFor successor: ComponentDefinition?) {
        domain.kept?.drop(keptName, unlessFor: successor?.keptDigest)
    }
}

extension ComponentDefinition {
    /// A digest of the plugin and the settings: kept bytes are valid only for the same digest.
    ///
    /// The settings contain references to secrets, not the secrets.
    var keptDigest: UInt64 {
        var digest = Digest()
        digest.add(plugin)
        digest.add(.object(settings))
        return digest.value
    }
}
