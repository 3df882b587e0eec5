import AtriumKit
import Host
import Interfaces
import JSONCodec
import PluginLoader
import Varlink

/// `org.atrium.Containers` over the registry.
struct ContainersControl: ContainersService {
    let context: ControlContext

    func apply(
        _ parameters: Containers.Apply.Parameters, call: VarlinkCall<Containers.Apply.Reply>
    ) {
        let texts = parameters.definitions
        let apply = { (read: Result<[NamedDefinition], DefinitionProblem>) in
            switch read {
            case .success(let read): self.apply(read, parameters, call)
            case .failure(let problem): Self.fail(call, problem)
            }
        }
        // An alias makes a short text long.
        if call.bytes <= 16 << 10, !texts.contains(where: { $0.text.utf8.contains(0x26) }) {
            return apply(Self.read(texts[...]))
        }
        readOnThread(texts[...], after: [], of: context.user(call.peer), apply)
    }

    private func apply(
        _ read: [NamedDefinition], _ parameters: Containers.Apply.Parameters,
        _ call: VarlinkCall<Containers.Apply.Reply>
    ) {
        let caller = context.own(call.peer)
        if let (first, second) = Self.repetition(in: read) {
            return context.registry.runOnThread(of: caller.actor) {
                Self.problem(of: second, after: first)
            } then: {
                Self.fail(call, $0)
            }
        }
        context.registry.structure.apply(
            read.map(\.definition), dryRun: parameters.dryRun ?? false,
            prune: parameters.prune ?? false, by: caller
        ) { result in
            guard case .failure(let error) = result, hasPlace(error) else {
                return call.answer(result, in: Containers.self, hasDetails: true, Self.reply)
            }
            locate(read[...], by: caller) { problem in
                if let problem { return Self.fail(call, problem) }
                call.answer(result, in: Containers.self, hasDetails: true, Self.reply)
            }
        }
    }

    /// Whether the reply has a place in a definition, and not only the problem.
    private func hasPlace(_ error: HostError) -> Bool {
        switch error {
        case .settingInvalid, .definitionInvalid: true
        // Of one that was found and refused the client asks why.
        case .pluginNotFound(let plugin, _):
            !context.registry.plugins.plugins.contains { $0.id == plugin }
        default: false
        }
    }

    /// A definition, and its file's name.
    private typealias NamedDefinition = (definition: ContainerDefinition, file: String)

    private static func fail(
        _ call: VarlinkCall<Containers.Apply.Reply>, _ problem: DefinitionProblem
    ) {
        call.fail(
            Containers.DefinitionInvalid(
                file: problem.file, line: problem.line, column: problem.column,
                reason: problem.reason, hint: problem.hint))
    }

    private static func reply(_ outcome: ApplyOutcome) -> Containers.Apply.Reply {
        .init(
            results: outcome.results.map(Containers.Apply.Reply.Results.init),
            sequence: Int(outcome.sequence))
    }

    /// Finds the first of several definitions that is refused on its own, and the place of the error in its file.
    private func locate(
        _ definitions: ArraySlice<NamedDefinition>, by caller: Caller,
        _ found: @escaping @Sendable (DefinitionProblem?) -> Void
    ) {
        guard let next = definitions.first else { return found(nil) }
        context.registry.structure.apply([next.definition], dryRun: true, prune: false, by: caller)
        {
            guard case .failure(let error) = $0 else {
                return locate(definitions.dropFirst(), by: caller, found)
            }
            // The place is found by parsing the text once more.
            context.registry.runOnThread(of: caller.actor) {
                error.problem(in: next.definition, file: next.file)
            } then: {
                found($0)
            }
        }
    }

    private typealias Texts = ArraySlice<Containers.Apply.Parameters.Definitions>

    private static func read(_ texts: Texts) -> Result<[NamedDefinition], DefinitionProblem> {
        Result { () throws(DefinitionProblem) in
            var definitions: [NamedDefinition] = []
            for text in texts {
                definitions += try DefinitionReader.read(text.text, file: text.file)
                    .map { ($0, text.file) }
            }
            return definitions
        }
    }

    /// Reads texts on a thread, one at a time, so that the work of other users comes in between.
    private func readOnThread(
        _ texts: Texts, after read: [NamedDefinition], of user: String,
        _ done: @escaping (Result<[NamedDefinition], DefinitionProblem>) -> Void
    ) {
        guard !texts.isEmpty else { return done(.success(read)) }
        context.registry.runOnThread(of: user) {
            Self.read(texts.prefix(1))
        } then: { result in
            switch result {
            case .success(let more):
                readOnThread(texts.dropFirst(), after: read + more, of: user, done)
            case .failure: done(result)
            }
        }
    }

    /// Returns the first two definitions of one container: each call would apply both, one after the other.
    private static func repetition(
        in read: [NamedDefinition]
    ) -> (first: NamedDefinition, second: NamedDefinition)? {
        var places: [String: Int] = [:]
        for (place, named) in read.enumerated() {
            if let first = places.updateValue(place, forKey: named.definition.name) {
                return (read[first], named)
            }
        }
        return nil
    }

    private static func problem(
        of second: NamedDefinition, after first: NamedDefinition
    ) -> DefinitionProblem {
        let name = second.definition.name
        let place = DefinitionReader.problem(
            in: first.definition, file: first.file, at: .container, "")
        return DefinitionReader.problem(
            in: second.definition, file: second.file, at: .container,
            "the container '\(name)' is defined in \(place.file):\(place.line) already",
            hint: "remove it from one of them")
    }

    func list(
        _ parameters: Containers.List.Parameters, call: VarlinkCall<Containers.List.Reply>
    ) {
        let registry = context.registry
        registry.expected.whenOver(of: context.user(call.peer)) {
            let containers = registry.list(hasDetails: context.seesDetails(call.peer))
            call.reply(
                .init(
                    containers: containers.map(Interfaces.Container.init),
                    sequence: Int(registry.sequence)))
        }
    }

    func describe(
        _ parameters: Containers.Describe.Parameters,
        call: VarlinkCall<Containers.Describe.Reply>
    ) {
        let (name, registry) = (parameters.container, context.registry)
        let hasDetails = context.seesDetails(call.peer)
        let describe = {
            Result { () throws(HostError) in
                try registry.describe(name, hasDetails: hasDetails)
            }
        }
        let known = describe()
        if case .success = known { return call.answer(known, in: Containers.self, Self.reply) }
        registry.expected.whenOver(of: context.user(call.peer)) {
            call.answer(describe(), in: Containers.self, Self.reply)
        }
    }

    private static func reply(_ description: ContainerDescription) -> Containers.Describe.Reply {
        .init(
            container: Interfaces.Container(description.status),
            fields: description.status.definition.fields.map(Interfaces.Field.init),
            votes: description.votes.map { Interfaces.VoteTally($0) },
            comments: description.comments, definition: description.status.definition.source,
            sequence: Int(description.sequence))
    }

    func delete(
        _ parameters: Containers.Delete.Parameters, call: VarlinkCall<Containers.Delete.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.structure.delete(
            parameters.container, purge: parameters.purge ?? false, by: caller
        ) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        }
    }

    func attach(
        _ parameters: Containers.Attach.Parameters, call: VarlinkCall<Containers.Attach.Reply>
    ) {
        let settings: [String: Value]
        do {
            settings =
                try parameters.settings.map { object throws(JSONError) in
                    try JSON.decode([String: Value].self, from: object.bytes)
                } ?? [:]
        } catch {
            return call.fail(
                Containers.SettingInvalid(
                    component: parameters.component, setting: "", reason: "\(error)"))
        }
        guard Names.isName(parameters.component) else {
            return call.fail(
                Interfaces.Daemon.ParameterInvalid(
                    parameter: "component",
                    reason: "A name is a letter a-z, then up to 62 of a-z 0-9 -."))
        }
        if let (parameter, reason) = parameters.contradiction {
            return call.fail(
                Interfaces.Daemon.ParameterInvalid(parameter: parameter, reason: reason))
        }
        let component = ComponentDefinition(
            name: parameters.component, plugin: parameters.plugin ?? "", settings: settings,
            isolation: parameters.isolation.map { $0 == .daemon ? .daemon : .process },
            isHidden: parameters.hidden ?? false, container: parameters.child,
            follow: parameters.follow ?? [:])
        context.registry.structure.attach(
            component, to: parameters.container, at: parameters.at, by: context.own(call.peer)
        ) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        }
    }

    func detach(
        _ parameters: Containers.Detach.Parameters, call: VarlinkCall<Containers.Detach.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.structure.change(parameters.container) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        } _: { container, done in
            container.structure.detach(
                parameters.component, purge: parameters.purge ?? false, by: caller, done)
        }
    }

    func move(
        _ parameters: Containers.Move.Parameters, call: VarlinkCall<Containers.Move.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.structure.change(parameters.container) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        } _: { container, done in
            container.structure.move(parameters.component, to: parameters.at, by: caller, done)
        }
    }

    func reload(
        _ parameters: Containers.Reload.Parameters,
        call: VarlinkCall<Containers.Reload.Reply>
    ) {
        context.registry.find(parameters.container, of: context.user(call.peer)) { found in
            let result = found.flatMap { container in
                Result { () throws(HostError) in
                    try container.contents.reload(parameters.component)
                }
            }
            call.answer(result, in: Containers.self, hasDetails: true) { .init() }
        }
    }

    func setHidden(
        _ parameters: Containers.SetHidden.Parameters,
        call: VarlinkCall<Containers.SetHidden.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.structure.change(parameters.container) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        } _: { container, done in
            container.structure.setHidden(parameters.component, parameters.hidden, by: caller, done)
        }
    }

    func setOpen(
        _ parameters: Containers.SetOpen.Parameters, call: VarlinkCall<Containers.SetOpen.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.structure.change(parameters.container) { result in
            call.answer(result, in: Containers.self, hasDetails: true) { .init(sequence: Int($0)) }
        } _: { container, done in
            container.structure.setOpen(
                votes: parameters.votes, comments: parameters.comments, by: caller, done)
        }
    }
}

extension Containers.Attach.Parameters {
    /// Parameters that exclude each other, and why; nil: there are none.
    fileprivate var contradiction: (parameter: String, reason: String)? {
        guard child != nil else {
            if plugin == nil {
                return ("plugin", "A component is made by a plugin, or is a container: name one.")
            }
            return follow == nil
                ? nil : ("follow", "Sections follow where the component is a container.")
        }
        if plugin != nil { return ("child", "A component is a container, or a plugin makes it.") }
        if settings != nil { return ("settings", "A container has its settings itself.") }
        return isolation == nil ? nil : ("isolation", "A container's components have their own.")
    }
}

extension Containers.Apply.Reply.Results {
    fileprivate init(_ result: ApplyResult) {
        let action: Action =
            switch result.action {
            case .created: .created
            case .changed: .changed
            case .unchanged: .unchanged
            }
        self.init(container: result.container, action: action, changes: result.changes)
    }
}
