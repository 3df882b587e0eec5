import AtriumKit
import Logging
import PluginLoader

/// The delegates of one container: its own, and those of the scopes that name one.
///
/// If a delegate can't be made, because its plugin is gone or refuses its settings, the default does not replace it:
/// its vetoes would vanish silently. The lists still follow their components, but commands that it would have to
/// judge are refused.
struct Delegates {
    /// The container or scope that has the delegate.
    enum Owner: Hashable {
        case container
        case scope(String)

        /// The path in errors and logs.
        var path: String {
            switch self {
            case .container: "container.delegate"
            case .scope(let name): "scopes.\(name).delegate"
            }
        }
    }

    /// A delegate that a definition names.
    ///
    /// A class, because it is looked up with each choice on a screen, and a copy would count each reference.
    private final class Named {
        let definition: DelegateDefinition
        /// The delegate, or why it can't be made.
        let made: Result<ContainerDelegate, HostError>
        /// The text of the crash note while it is called.
        let crash: CrashText

        init(
            _ definition: DelegateDefinition, made: Result<ContainerDelegate, HostError>,
            crash: CrashText
        ) {
            self.definition = definition
            self.made = made
            self.crash = crash
        }
    }

    /// The container's own delegate; the default wiring if it names none or the one it names can't be made.
    let own: ContainerDelegate
    private var named: [Owner: Named] = [:]
    /// The one of `named` that is the container's own.
    private var ownNamed: Named?
    private let fields: [Field]

    /// Makes the default wiring alone.
    init() {
        own = ContainerDelegate()
        fields = []
    }

    /// Makes the delegates of a definition, and keeps those of before that have not changed.
    init(for definition: ContainerDefinition, keeping before: Delegates, in domain: Domain) {
        fields = definition.fields
        let scopes = definition.scopes.map { (Owner.scope($0.name), $0.delegate) }
        for case (let owner, let named?) in [(.container, definition.delegate)] + scopes {
            if let old = before.named[owner], before.fields == fields,
                Optional(old.definition).isSame(as: named), case .success = old.made
            {
                self.named[owner] = old
            } else {
                let made = Result { () throws(HostError) in
                    try domain.delegate(named, of: owner, in: definition)
                }
                let crash = CrashText(
                    InitNote.Component(
                        container: definition.name, component: owner.path, plugin: named.plugin))
                self.named[owner] = Named(named, made: made, crash: crash)
            }
        }
        ownNamed = self.named[.container]
        if case .success(let delegate) = ownNamed?.made {
            own = delegate
        } else {
            own = before.isDefault ? before.own : ContainerDelegate()
        }
    }

    /// All delegates that could be made.
    var all: [ContainerDelegate] {
        [own]
            + named.compactMap { owner, named in
                owner == .container ? nil : try? named.made.get()
            }
    }

    /// The delegate for what happens on screens in a scope, if there are any: the scope's, or else the container's;
    /// fails while it can't be made.
    func delegate(in scope: String?) -> Result<ContainerDelegate, HostError> {
        guard let named = find(scope) else { return .success(own) }
        return answer(of: named)
    }

    /// The plugin of the delegate for a scope; nil: the default wiring.
    func plugin(in scope: String?) -> String? { find(scope)?.definition.plugin }

    /// The text of the crash note while the delegate for a scope is called; nil: the default wiring.
    func crashText(in scope: String?) -> CrashText? { find(scope)?.crash }

    private func find(_ scope: String?) -> Named? {
        guard let scope, !named.isEmpty else { return ownNamed }
        return named[.scope(scope)] ?? ownNamed
    }

    /// The error for what the container's delegate can't be asked; nil if the delegate exists.
    var refusal: HostError? {
        if case .failure(let error) = delegate(in: nil) { error } else { nil }
    }

    private func answer(of named: Named) -> Result<ContainerDelegate, HostError> {
        named.made.mapError { error in
            .componentFailed(
                ComponentFailure(
                    component: named.definition.plugin,
                    reason: "What decides here is not available, so the call can't be approved: "
                        + "try again later.",
                    details: "The delegate \(named.definition.plugin) is unavailable, so the "
                        + "call can't be approved: \(error.sentence)",
                    retryAfter: 5))
        }
    }

    /// Why these delegates may not replace those before; nil if they may.
    ///
    /// A delegate that failed before and has not changed does not prevent other changes.
    func objection(since before: Delegates) -> HostError? {
        for (owner, named) in named.sorted(by: { $0.key.path < $1.key.path }) {
            guard case .failure(let error) = named.made else { continue }
            let old = before.named[owner]
            if before.fields != fields || !(old?.definition).isSame(as: named.definition) {
                return error
            }
        }
        return nil
    }

    /// The delegates that can't be made, and why.
    var failures: [(what: String, reason: String)] {
        named.compactMap { owner, named in
            guard case .failure(let error) = named.made else { return nil }
            let what =
                if case .scope(let name) = owner { "scope \(name)'s delegate" } else { "delegate" }
            return (what, "failed: \(error.sentence)")
        }.sorted { $0.what < $1.what }
    }

    /// Whether the delegate at this path could be made.
    func has(_ path: String) -> Bool {
        named.contains { owner, named in
            guard owner.path == path, case .success = named.made else { return false }
            return true
        }
    }

    /// Whether the container's own delegate is the default wiring, which passes everything on.
    var isDefault: Bool { type(of: own) == ContainerDelegate.self }

    /// Whether the container's own delegate is another object than before.
    func hasOtherOwn(than before: Delegates) -> Bool { own !== before.own }
}

extension Domain {
    /// Makes a delegate, without attaching it to a container; throws `pluginNotFound`, `settingInvalid` or
    /// `definitionInvalid`.
    fileprivate func delegate(
        _ definition: DelegateDefinition, of owner: Delegates.Owner,
        in container: ContainerDefinition
    ) throws(HostError) -> ContainerDelegate {
        func invalid(_ reason: String) -> HostError {
            .definitionInvalid(container: container.name, reason: "\(owner.path): \(reason)")
        }
        guard let plugin = plugins.delegate(definition.plugin) else {
            guard let other = plugins.plugin(definition.plugin) else {
                throw .pluginNotFound(definition.plugin, known: plugins.delegateIdentifiers)
            }
            throw invalid(
                "the plugin \(other.id) is of the kind '\(other.kind.rawValue)', and makes no "
                    + "delegates.")
        }
        if let reason = isolated.reason(of: plugin.id) { throw invalid(reason) }
        let type = plugin.delegate
        let scope: String? = if case .scope(let name) = owner { name } else { nil }
        do {
            let noted = InitNote.Component(
                container: container.name, component: owner.path, plugin: plugin.id)
            return try notes.making.during(noted) {
                try notes.crash.during(CrashText(noted)) {
                    try type.init(
                        context: DelegateContext(
                            container: container.name, scope: scope,
                            settings: Settings(definition.settings, declared: type.settings),
                            fields: container.fields,
                            log: log(of: owner, container.name, plugin.id)))
                }
            }
        } catch let error as SettingError {
            throw .settingInvalid(
                component: owner.path, setting: error.setting, reason: error.reason)
        } catch let error as Refusal {
            throw invalid("it can't be made: \(error.reason)")
        } catch {
            throw invalid("it can't be made: \(error)")
        }
    }

    private func log(
        of owner: Delegates.Owner, _ container: String, _ plugin: String
    ) -> (LogLevel, String) -> Void {
        { [logger] level, message in
            logger.log(
                level: Logger.Level(level), "\(message)",
                metadata: [
                    "container": "\(container)", "component": "\(owner.path)",
                    "plugin": "\(plugin)",
                ])
        }
    }
}
