import AtriumKit
import Host
import Index
import Interfaces
import JSONCodec
import Varlink

/// `org.atrium.Contents` over containers.
struct ContentsControl: ContentsService {
    let context: ControlContext

    func list(
        _ parameters: Contents.List.Parameters, call: VarlinkCall<Contents.List.Reply>
    ) {
        let user = context.own(call.peer).actor
        context.read(
            call, of: parameters.container, in: Contents.self, as: parameters.actor
        ) { container in
            let request = ListRequest(
                component: parameters.component, scope: parameters.scope, parent: parameters.parent,
                selection: Selection(parameters.filters ?? [:]),
                search: parameters.search, sort: parameters.sort ?? [],
                fields: parameters.fields, facets: parameters.facets ?? false,
                isPresented: parameters.present ?? false, actor: parameters.actor,
                user: user, limit: parameters.limit ?? 50, cursor: parameters.cursor)
            container.contents.list(request, while: { call.isAwaited }) { result in
                call.answer(result, in: Contents.self) { page in
                    .init(
                        items: page.items.map(Interfaces.Item.init), total: page.total,
                        sections: page.sections?.map(Interfaces.Section.init),
                        presentation: page.presentation.map(Interfaces.Presentation.init),
                        next: page.next, sequence: Int(page.sequence))
                }
            }
        }
    }

    func get(
        _ parameters: Contents.Get.Parameters, call: VarlinkCall<Contents.Get.Reply>
    ) {
        context.read(
            call, of: parameters.container, in: Contents.self, as: parameters.actor
        ) { container in
            container.contents.get(
                parameters.item, in: parameters.component, actor: parameters.actor,
                by: context.user(call.peer), while: { call.isAwaited }
            ) { result in
                call.answer(result, in: Contents.self) {
                    .init(
                        item: Interfaces.Item($0.item),
                        details: $0.details.map(JSONObject.init(checked:)),
                        sequence: Int($0.sequence))
                }
            }
        }
    }

    func image(
        _ parameters: Contents.Image.Parameters, call: VarlinkCall<Contents.Image.Reply>
    ) {
        context.find(parameters.container, for: call, in: Contents.self) { container in
            container.contents.image(
                of: parameters.item, in: parameters.component, field: parameters.field,
                by: context.user(call.peer)
            ) { result in
                call.answer(result, in: Contents.self) { .init(type: $0.type, data: $0.base64) }
            }
        }
    }

    func put(
        _ parameters: Contents.Put.Parameters, call: VarlinkCall<Contents.Put.Reply>
    ) {
        let items = parameters.items
        let batch = ItemBatch(
            count: items.count, isConditional: items.contains { $0.ifRevision != nil }
        ) { () throws(HostError) in
            var drafts: [ItemDraft] = []
            drafts.reserveCapacity(items.count)
            for item in items { drafts.append(try ItemDraft(item)) }
            return drafts
        }
        let caller = context.own(call.peer)
        context.find(parameters.container, for: call, in: Contents.self) { container in
            container.contents.put(batch, in: parameters.component, by: caller) { result in
                call.answer(result, in: Contents.self, hasDetails: true) {
                    .init(
                        inserted: $0.inserted, updated: $0.updated, unchanged: $0.unchanged,
                        sequence: Int($0.sequence))
                }
            }
        }
    }

    func remove(
        _ parameters: Contents.Remove.Parameters, call: VarlinkCall<Contents.Remove.Reply>
    ) {
        let caller = context.own(call.peer)
        context.find(parameters.container, for: call, in: Contents.self) { container in
            container.contents.remove(
                parameters.items, in: parameters.component, purge: parameters.purge ?? false,
                by: caller
            ) { result in
                call.answer(result, in: Contents.self, hasDetails: true) {
                    .init(removed: $0.removed, sequence: Int($0.sequence))
                }
            }
        }
    }
}

extension ItemDraft {
    fileprivate init(_ item: Contents.Put.Parameters.Items) throws(HostError) {
        let fields: [String: Value]
        do {
            fields = try JSON.decode([String: Value].self, from: item.fields.bytes)
            try WholeNumbers.check(item.fields.bytes, readAs: fields)
        } catch {
            // The frame's syntax was already checked, so only numbers that can't be stored are left.
            throw .itemInvalid(item: item.id, reason: "Its fields can't be read: \(error)")
        }
        self.init(
            item: AtriumKit.Item(id: item.id, fields: fields, parent: item.parent),
            ifRevision: item.ifRevision.map(Int64.init))
    }
}
