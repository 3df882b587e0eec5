import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Screens` over the registry: each revision a whole snapshot for now.
struct ScreensControl: ScreensService {
    let context: ControlContext

    func open(
        _ parameters: Screens.Open.Parameters, call: VarlinkCall<Screens.Open.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        guard parameters.scope == nil else {
            return call.fail(Screens.ScopeNotFound(scope: parameters.scope ?? ""))
        }
        let actor: String?
        do {
            actor = try context.reader(
                call.peer, as: parameters.actor ?? "unix:\(call.peer.uid)")
        } catch {
            return call.fail(error.reply)
        }
        let request = ScreenRequest(
            container: parameters.container, selection: Selection(parameters.filters ?? [:]),
            search: parameters.search, sort: parameters.sort ?? [],
            limit: parameters.limit ?? 50, actor: actor)
        let reset = parameters.resume.map {
            "Screens do not outlive their connection yet; \($0.screen) is gone."
        }
        let caller = context.own(call.peer)
        let registry = context.registry
        let pump = Pump(call: call, source: ScreenSource(registry: registry, reset: reset))
        registry.assumeIsolated { registry in
            registry.openScreen(request, by: caller, wake: { pump.advance() }) { result in
                switch result {
                case .success(let id): pump.start(id)
                case .failure(let error): call.fail(error.reply(of: Screens.self))
                }
            }
        }
    }

    func select(
        _ parameters: Screens.Select.Parameters, call: VarlinkCall<Screens.Select.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.assumeIsolated { registry in
            registry.select(
                ScreenID(parameters.screen), section: parameters.section,
                filter: parameters.filter, by: caller
            ) { result in
                call.settle(result, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func deselect(
        _ parameters: Screens.Deselect.Parameters, call: VarlinkCall<Screens.Deselect.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.assumeIsolated { registry in
            registry.deselect(
                ScreenID(parameters.screen), section: parameters.section,
                filter: parameters.filter, by: caller
            ) { result in
                call.settle(result, in: Screens.self) { .init(revision: $0) }
            }
        }
    }

    func clear(
        _ parameters: Screens.Clear.Parameters, call: VarlinkCall<Screens.Clear.Reply>
    ) {
        let caller = context.own(call.peer)
        context.registry.assumeIsolated { registry in
            registry.clear(ScreenID(parameters.screen), by: caller) { result in
                call.settle(result, in: Screens.self) { .init(revision: $0) }
            }
        }
    }
}

// MARK: - Later

extension ScreensControl {
    func search(
        _ parameters: Screens.Search.Parameters, call: VarlinkCall<Screens.Search.Reply>
    ) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Search.name))
    }

    func sort(_ parameters: Screens.Sort.Parameters, call: VarlinkCall<Screens.Sort.Reply>) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Sort.name))
    }

    func setScope(
        _ parameters: Screens.SetScope.Parameters, call: VarlinkCall<Screens.SetScope.Reply>
    ) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.SetScope.name))
    }

    func resize(
        _ parameters: Screens.Resize.Parameters, call: VarlinkCall<Screens.Resize.Reply>
    ) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Resize.name))
    }

    func enter(_ parameters: Screens.Enter.Parameters, call: VarlinkCall<Screens.Enter.Reply>) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Enter.name))
    }

    func back(_ parameters: Screens.Back.Parameters, call: VarlinkCall<Screens.Back.Reply>) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Back.name))
    }

    func focus(_ parameters: Screens.Focus.Parameters, call: VarlinkCall<Screens.Focus.Reply>) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Focus.name))
    }

    func activate(
        _ parameters: Screens.Activate.Parameters, call: VarlinkCall<Screens.Activate.Reply>
    ) {
        call.fail(VarlinkService.MethodNotImplemented(method: Screens.Activate.name))
    }
}

/// A screen as a ``PumpSource``.
private struct ScreenSource: PumpSource {
    let registry: Registry
    /// Why a screen that was to be resumed starts anew; told with its first revision.
    let reset: String?

    func pull(_ id: ScreenID, _ reply: @escaping Host.Reply<Screens.Open.Reply?>) {
        registry.assumeIsolated { registry in
            registry.pullScreen(id) { [reset] result in
                reply(
                    result.map { snapshot in
                        snapshot.map {
                            Screens.Open.Reply($0, reset: $0.revision == 1 ? reset : nil)
                        }
                    })
            }
        }
    }

    func close(_ id: ScreenID) {
        registry.assumeIsolated { $0.closeScreen(id) }
    }

    func error(_ error: HostError) -> VarlinkRemoteError { error.reply(of: Screens.self) }
}

extension Screens.Open.Reply {
    fileprivate init(_ snapshot: ScreenSnapshot, reset: String?) {
        self.init(
            screen: snapshot.screen.text, base: nil, revision: snapshot.revision,
            sequence: Int(snapshot.sequence), commits: snapshot.commits, reset: reset,
            components: snapshot.components.map {
                .init(
                    name: $0.name, kind: $0.kind?.rawValue ?? "", title: $0.title,
                    hidden: $0.isHidden)
            },
            sections: snapshot.sections?.map(Interfaces.Section.init),
            lists: snapshot.lists.map { list in
                .init(
                    component: list.component, total: list.total,
                    edits: list.items.enumerated().map { index, item in
                        .init(op: .insert, at: index, item: Interfaces.Item(item))
                    })
            },
            tally: snapshot.tally.map { Interfaces.VoteTally($0) })
    }
}
