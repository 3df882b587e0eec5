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

    /// Goes on with a screen that another process of the daemon had.
    func resume(_ state: JSONObject, call: VarlinkCall<Screens.Open.Reply>) {
        guard let kept = KeptScreen(state.value) else {
            return call.fail(VarlinkService.InvalidParameter(parameter: "resume"))
        }
        if let refusal = context.obstacle(to: kept.request, by: call.peer) {
            return call.fail(refusal.reply)
        }
        open(kept.request, call: call, from: kept)
    }

    private func open(
        _ request: ScreenRequest, call: VarlinkCall<Screens.Open.Reply>, from kept: KeptScreen?
    ) {
        let caller = context.own(call.peer)
        let stream = ScreenStream(call: call, registry: context.registry, from: kept) {
            [context] in context.obstacle(to: request, by: call.peer)
        }
        context.registry.assumeIsolated { registry in
            registry.openScreen(
                request, by: caller, isQuiet: kept != nil, wake: { stream.advance() }
            ) { result in
                switch result {
                case .success(let reader): stream.start(reader)
                case .failure(let error): call.fail(error.reply(of: Screens.self))
                }
            }
        }
    }

    private func request(
        _ parameters: Screens.Open.Parameters, by peer: Peer
    ) throws(ActorRefusal) -> ScreenRequest {
        let own = context.own(peer).actor
        let actor = try context.reader(peer, as: parameters.actor ?? own)
        // Who may see somebody's ballots may not act for them.
        let agent = try? context.writer(peer, as: parameters.actor)
        return ScreenRequest(
            container: parameters.container, scope: parameters.scope,
            selection: Selection(parameters.filters ?? [:]), search: parameters.search,
            sort: parameters.sort ?? [], limit: parameters.limit ?? 50, actor: actor,
            agent: agent?.actor,
            resume: parameters.resume.map {
                .init(screen: ScreenID($0.screen), revision: $0.revision)
            })
    }

    func select(
        _ parameters: Screens.Select.Parameters, call: VarlinkCall<Screens.Select.Reply>
    ) {
        act(call) { registry, caller in
            registry.select(
                ScreenID(parameters.screen), section: parameters.section,
                filter: parameters.filter, by: caller
            ) { call.settle($0, in: Screens.self) { .init(revision: $0) } }
        }
    }

    func deselect(
        _ parameters: Screens.Deselect.Parameters, call: VarlinkCall<Screens.Deselect.Reply>
    ) {
        act(call) { registry, caller in
            registry.deselect(
                ScreenID(parameters.screen), section: parameters.section,
                filter: parameters.filter, by: caller
            ) { call.settle($0, in: Screens.self) { .init(revision: $0) } }
        }
    }

    func clear(
        _ parameters: Screens.Clear.Parameters, call: VarlinkCall<Screens.Clear.Reply>
    ) {
        act(call) { registry, caller in
            registry.clear(ScreenID(parameters.screen), by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func search(
        _ parameters: Screens.Search.Parameters, call: VarlinkCall<Screens.Search.Reply>
    ) {
        act(call) { registry, caller in
            registry.search(ScreenID(parameters.screen), parameters.text, by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func sort(_ parameters: Screens.Sort.Parameters, call: VarlinkCall<Screens.Sort.Reply>) {
        act(call) { registry, caller in
            registry.sort(ScreenID(parameters.screen), by: parameters.sort, by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func setScope(
        _ parameters: Screens.SetScope.Parameters, call: VarlinkCall<Screens.SetScope.Reply>
    ) {
        act(call) { registry, caller in
            registry.setScope(ScreenID(parameters.screen), to: parameters.scope, by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func resize(
        _ parameters: Screens.Resize.Parameters, call: VarlinkCall<Screens.Resize.Reply>
    ) {
        act(call) { registry, caller in
            registry.resize(
                ScreenID(parameters.screen), component: parameters.component,
                to: parameters.limit, by: caller
            ) { call.settle($0, in: Screens.self) { .init(revision: $0) } }
        }
    }

    func enter(_ parameters: Screens.Enter.Parameters, call: VarlinkCall<Screens.Enter.Reply>) {
        act(call) { registry, caller in
            registry.enter(ScreenID(parameters.screen), item: parameters.item, by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func back(_ parameters: Screens.Back.Parameters, call: VarlinkCall<Screens.Back.Reply>) {
        act(call) { registry, caller in
            registry.back(ScreenID(parameters.screen), by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func focus(_ parameters: Screens.Focus.Parameters, call: VarlinkCall<Screens.Focus.Reply>) {
        act(call) { registry, caller in
            registry.focus(ScreenID(parameters.screen), item: parameters.item, by: caller) {
                call.settle($0, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func activate(
        _ parameters: Screens.Activate.Parameters, call: VarlinkCall<Screens.Activate.Reply>
    ) {
        act(call) { registry, caller in
            registry.activate(ScreenID(parameters.screen), item: parameters.item, by: caller) {
                call.settle($0, in: Screens.self) { .init(sequence: $0.map(Int.init)) }
            }
        }
    }

    private func act<Reply>(
        _ call: VarlinkCall<Reply>, _ body: @Sendable (isolated Registry, Caller) -> Void
    ) {
        let caller = context.own(call.peer)
        context.registry.assumeIsolated { body($0, caller) }
    }
}
