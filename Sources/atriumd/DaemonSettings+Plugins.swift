import AtriumKit
import PluginLoader

extension DaemonSettings {
    /// The ids in settings that no plugin of the library has, in sentences with their places.
    ///
    /// They are no reason not to start: a plugin may be installed later. A default is not reported.
    func unknownPlugins(in library: PluginLibrary) -> [String] {
        let known = Set(library.plugins.map(\.id)).sorted()
        var problems: [String] = []
        for (key, ids) in [("networkPlugins", networkPlugins), ("delegates", delegates)] {
            guard let place = places[key] else { continue }
            for id in ids where !known.contains(id) {
                let nearest = nearestName(to: id, among: known).map { "did you mean '\($0)'?" }
                let others =
                    known.isEmpty ? "there is none" : "there are: \(known.joined(separator: ", "))"
                problems.append(
                    "\(place): \(key): there is no plugin '\(id)'; \(nearest ?? others)")
            }
        }
        return problems
    }
}
