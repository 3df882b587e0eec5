import AtriumKit
import Host
import Interfaces
import JSONCodec
import Varlink

/// `org.atrium.Screens` over the registry.
struct ScreensControl: ScreensService {
    let context: ControlContext

    func open(
        _ parameters: Screens.Open.Parameters, call: VarlinkCall<Screens.Open.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        let request: ScreenRequest
        do {
            request = try self.request(parameters, by: call.peer)
        } catch {
            return call.fail(error.reply)
        }
        open(request, call: call, from: nil)
    }

    /// Continues a screen that was handed over by another process of the daemon.
    func resume(_ state: JSONObject, call: VarlinkCall<Screens.Open.Reply>) {
        guard let kept = KeptScreen(state.value) else {
            return call.fail(VarlinkService.InvalidParameter(parameter: "resume"))
        }
        let obstacle = context.obstacle(
            toScreenOf: kept.actor, agent: kept.agent, by: call.peer)
        if let obstacle { return call.fail(obstacle.reply) }
        open(kept.request, call: call, from: kept)
    }

    private func open(
        _ request: ScreenRequest, call: VarlinkCall<Screens.Open.Reply>, from kept: KeptScreen?
    ) {
        let caller = context.own(call.peer)
        let stream = ScreenStream(call: call, registry: context.registry, from: kept) {
            [context] in
            context.obstacle(toScreenOf: request.actor, agent: request.agent, by: call.peer)
        }
        context.registry.openScreen(request, by: caller, isQuiet: kept != nil) {
            stream.advance()
        } _: { result in
            switch result {
            case .success(let reader): stream.start(reader)
            case .failure(let error): call.fail(error.reply(of: Screens.self))
            }
        }
    }

    private func request(
        _ parameters: Screens.Open.Parameters, by peer: Peer
    ) throws(ActorRefusal) -> ScreenRequest {
        let own = context.own(peer).actor
        let actor = try context.reader(peer, as: parameters.actor ?? own)
        // The right to see an actor's ballots does not include acting for that actor.
        let agent = try? context.writer(peer, as: parameters.actor)
        return ScreenRequest(
            container: parameters.container, scope: parameters.scope,
            selection: parameters.filters.map { Selection($0) }, search: parameters.search,
            sort: parameters.sort ?? [], limit: parameters.limit ?? 50, actor: actor,
            agent: agent?.actor,
            resume: parameters.resume.map {
                .init(screen: ScreenID($0.screen), revision: $0.revision)
            })
    }

    func select(
        _ parameters: Screens.Select.Parameters, call: VarlinkCall<Screens.Select.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.filters.select(
                section: parameters.section, filter: parameters.filter, on: screen
            ) { call.answer($0, in: Screens.self) { .init(revision: $0) } }
        }
    }

    func deselect(
        _ parameters: Screens.Deselect.Parameters, call: VarlinkCall<Screens.Deselect.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.filters.deselect(
                section: parameters.section, filter: parameters.filter, on: screen
            ) { call.answer($0, in: Screens.self) { .init(revision: $0) } }
        }
    }

    func clear(
        _ parameters: Screens.Clear.Parameters, call: VarlinkCall<Screens.Clear.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.filters.clear(screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func search(
        _ parameters: Screens.Search.Parameters, call: VarlinkCall<Screens.Search.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.search(parameters.text, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func sort(_ parameters: Screens.Sort.Parameters, call: VarlinkCall<Screens.Sort.Reply>) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.sort(by: parameters.sort, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func setScope(
        _ parameters: Screens.SetScope.Parameters, call: VarlinkCall<Screens.SetScope.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.setScope(parameters.scope, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func resize(
        _ parameters: Screens.Resize.Parameters, call: VarlinkCall<Screens.Resize.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.resize(parameters.component, to: parameters.limit, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func enter(_ parameters: Screens.Enter.Parameters, call: VarlinkCall<Screens.Enter.Reply>) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.enter(parameters.item, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func back(_ parameters: Screens.Back.Parameters, call: VarlinkCall<Screens.Back.Reply>) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.back(on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func setHidden(
        _ parameters: Screens.SetHidden.Parameters, call: VarlinkCall<Screens.SetHidden.Reply>
    ) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.setHidden(parameters.component, parameters.hidden, on: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func focus(_ parameters: Screens.Focus.Parameters, call: VarlinkCall<Screens.Focus.Reply>) {
        act(call, on: parameters.screen, parameters.part) { screens, screen, _ in
            screens.actions.focus(on: parameters.item, of: screen) {
                call.answer($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func activate(
        _ parameters: Screens.Activate.Parameters, call: VarlinkCall<Screens.Activate.Reply>
    ) {
        act(
            call, on: parameters.screen, parameters.part,
            wanting: (Screens.Activate.name, .member)
        ) { screens, screen, caller in
            let agent = Caller(actor: screen.agent, pace: caller.pace)
            let bytes = parameters.item.utf8.count
            if let refusal = context.registry.refusal(ofWriting: bytes, by: agent) {
                return call.fail(refusal.reply(of: Screens.self))
            }
            screens.actions.activate(parameters.item, on: screen) {
                call.answer($0, in: Screens.self) { .init(sequence: $0.map(Int.init)) }
            }
        }
    }

    /// Lets a user act on a screen, or on a part of it, once it exists.
    ///
    /// The user's rights are checked then, since roles may have changed while the call waited for the screen.
    private func act<Reply>(
        _ call: VarlinkCall<Reply>, on screen: String, _ part: String?,
        wanting role: (method: String, role: Role)? = nil,
        _ body: @escaping (ContainerScreens, Screen, Caller) -> Void
    ) {
        let id = ScreenID(screen)
        context.registry.keptScreens.whenRestored(id) {
            let caller = context.own(call.peer)
            let found = context.registry.screens.find(id, of: caller)
            if let screen = found?.screen,
                let obstacle = context.obstacle(
                    toScreenOf: screen.actor, agent: screen.agent, by: call.peer)
            {
                return call.fail(obstacle.reply)
            }
            let denial = role.flatMap {
                context.denial(of: $0.method, wanting: $0.role, to: call.peer)
            }
            if let denial { return call.fail(denial) }
            guard let (screens, screen) = found else {
                return call.fail(HostError.screenNotFound(id.text).reply(of: Screens.self))
            }
            switch screens.find(part, of: screen) {
            case .success(let (screens, screen)): body(screens, screen, caller)
            case .failure(let error): call.fail(error.reply(of: Screens.self))
            }
        }
    }
}
