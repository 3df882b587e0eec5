import AtriumKit
import Logging

// What a component has kept for the one that is made after it.
extension Slot {
    /// The name of its file.
    var keptName: String { "\(containerName).\(name)" }

    /// Reads what the component before had kept, on a thread where there is any.
    func readKept(then: @escaping ([UInt8]?) -> Void) {
        guard let kept = domain.kept else { return then(nil) }
        kept.read(
            keptName, for: definition.keptDigest, atMost: domain.limits.keptBytes, then: then)
    }

    /// Its component has bytes kept.
    func keep(_ bytes: [UInt8]?) {
        let most = domain.limits.keptBytes
        guard bytes?.count ?? 0 <= most else {
            return domain.logger.warning(
                "what a component wants kept is too much",
                metadata: logFields([
                    "reason": "It has \(bytes?.count ?? 0) bytes, and limits.keptBytes is \(most)."
                ]))
        }
        domain.kept?.keep(bytes, as: keptName, for: definition.keptDigest)
    }

    /// It is no more, or another took its place.
    ///
    /// - Parameter successor: For which it is kept on, where that is made of the same.
    func dropKept(unlessFor successor: ComponentDefinition?) {
        domain.kept?.drop(keptName, unlessFor: successor?.keptDigest)
    }
}

extension ComponentDefinition {
    /// Tells what components of it keep from what those of others do, by its plugin and its settings.
    ///
    /// These have references to secrets, and none itself.
    var keptDigest: UInt64 {
        var digest = Digest()
        digest.add(plugin)
        digest.add(.object(settings))
        return digest.value
    }
}
