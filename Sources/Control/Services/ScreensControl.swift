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
        choose(call, on: parameters.screen, parameters.part, Screens.Select.Reply.init(revision:)) {
            $0.filters.select(section: parameters.section, filter: parameters.filter, on: $1, $2)
        }
    }

    func deselect(
        _ parameters: Screens.Deselect.Parameters, call: VarlinkCall<Screens.Deselect.Reply>
    ) {
        choose(call, on: parameters.screen, parameters.part, Screens.Deselect.Reply.init(revision:))
        {
            $0.filters.deselect(section: parameters.section, filter: parameters.filter, on: $1, $2)
        }
    }

    func clear(
        _ parameters: Screens.Clear.Parameters, call: VarlinkCall<Screens.Clear.Reply>
    ) {
        choose(call, on: parameters.screen, parameters.part, Screens.Clear.Reply.init(revision:)) {
            $0.filters.clear($1, $2)
        }
    }

    func search(
        _ parameters: Screens.Search.Parameters, call: VarlinkCall<Screens.Search.Reply>
    ) {
        choose(call, on: parameters.screen, parameters.part, Screens.Search.Reply.init(revision:)) {
            $0.actions.search(parameters.text, on: $1, $2)
        }
    }

    func sort(_ parameters: Screens.Sort.Parameters, call: VarlinkCall<Screens.Sort.Reply>) {
        choose(call, on: parameters.screen, parameters.part, Screens.Sort.Reply.init(revision:)) {
            $0.actions.sort(by: parameters.sort, on: $1, $2)
        }
    }

    func setScope(
        _ parameters: Screens.SetScope.Parameters, call: VarlinkCall<Screens.SetScope.Reply>
    ) {
        choose(call, on: parameters.screen, parameters.part, Screens.SetScope.Reply.init(revision:))
        {
            $0.actions.setScope(parameters.scope, on: $1, $2)
        }
    }

    func resize(
        _ parameters: Screens.Resize.Parameters, call: VarlinkCall<Screens.Resize.Reply>
    ) {
        choose(call, on: parameters.screen, parameters.part, Screens.Resize.Reply.init(revision:)) {
            $0.actions.resize(parameters.component, to: parameters.limit, on: $1, $2)
        }
    }

    func enter(_ parameters: Screens.Enter.Parameters, call: VarlinkCall<Screens.Enter.Reply>) {
        choose(call, on: parameters.screen, parameters.part, Screens.Enter.Reply.init(revision:)) {
            $0.actions.enter(parameters.item, on: $1, $2)
        }
    }

    func back(_ parameters: Screens.Back.Parameters, call: VarlinkCall<Screens.Back.Reply>) {
        choose(call, on: parameters.screen, parameters.part, Screens.Back.Reply.init(revision:)) {
            $0.actions.back(on: $1, $2)
        }
    }

    func setHidden(
        _ parameters: Screens.SetHidden.Parameters, call: VarlinkCall<Screens.SetHidden.Reply>
    ) {
        choose(
            call, on: parameters.screen, parameters.part, Screens.SetHidden.Reply.init(revision:)
        ) {
            $0.actions.setHidden(parameters.component, parameters.hidden, on: $1, $2)
        }
    }

    func focus(_ parameters: Screens.Focus.Parameters, call: VarlinkCall<Screens.Focus.Reply>) {
        choose(call, on: parameters.screen, parameters.part, Screens.Focus.Reply.init(revision:)) {
            $0.actions.focus(on: parameters.item, of: $1, $2)
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

    /// Makes a user's choice on a screen, or on a part of it, and replies with the revision that shows it.
    private func choose<Reply>(
        _ call: VarlinkCall<Reply>, on screen: String, _ part: String?,
        _ reply: @escaping (Int) -> Reply,
        _ choice: @escaping (ContainerScreens, Screen, @escaping Answer<Int>) -> Void
    ) {
        act(call, on: screen, part) { screens, screen, _ in
            choice(screens, screen) { call.answer($0, in: Screens.self, reply) }
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
