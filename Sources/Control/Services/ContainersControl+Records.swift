import Host
import Interfaces
import JSONCodec
import Varlink

// Export and restore of records, for administrators.
extension ContainersControl {
    func export(
        _ parameters: Containers.Export.Parameters, call: VarlinkCall<Containers.Export.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        context.find(parameters.container, for: call, in: Containers.self) { container in
            context.registry.exports.begin(
                of: container, skipsDamaged: parameters.damaged ?? false
            ) { result in
                switch result {
                case .success(let id): ExportStream(call: call, id: id, context: context).start()
                case .failure(let error):
                    call.fail(error.reply(of: Containers.self, hasDetails: true))
                }
            }
        }
    }

    func restore(
        _ parameters: Containers.Restore.Parameters, call: VarlinkCall<Containers.Restore.Reply>
    ) {
        let records = parameters.records.map(RecordView.init)
        let caller = context.own(call.peer)
        context.find(parameters.container, for: call, in: Containers.self) { container in
            container.restore(records, by: caller) { result in
                call.answer(result, in: Containers.self, hasDetails: true) {
                    .init(
                        restored: $0.restored, unchanged: $0.unchanged,
                        sequence: Int($0.sequence))
                }
            }
        }
    }
}

/// Sends an export's parts to a call, each one only after the peer has read the one before.
private struct ExportStream: Sendable {
    let call: VarlinkCall<Containers.Export.Reply>
    let id: ExportID
    let context: ControlContext

    func start() {
        call.onClose { close() }
        call.onReview { review() }
        // The peer may have lost its role while the export was being prepared.
        review()
        advance()
    }

    private func review() {
        guard
            let denial = context.denial(
                of: Containers.Export.name, wanting: .admin, to: call.peer)
        else { return }
        call.fail(denial)
        close()
    }

    private func close() { context.registry.exports.close(id) }

    private func advance() {
        // Also false once the peer is gone: the closure is then never called.
        guard call.isWritable else { return call.onWritable { advance() } }
        context.registry.exports.pull(id) { result in
            switch result {
            case .failure(let error):
                call.fail(error.reply(of: Containers.self, hasDetails: true))
            case .success(let part) where part.isLast:
                call.reply(.init(part))
            case .success(let part):
                call.replyContinues(.init(part))
                advance()
            }
        }
    }
}

extension Containers.Export.Reply {
    fileprivate init(_ part: ExportPart) {
        self.init(
            records: part.records.map(Interfaces.Record.init), sequence: Int(part.sequence),
            lost: part.lost.isEmpty ? nil : part.lost)
    }
}

extension Interfaces.Record {
    fileprivate init(_ record: RecordView) {
        self.init(
            component: record.component, kind: record.kind, key: record.key, actor: record.actor,
            value: JSONObject(checked: record.value))
    }
}

extension RecordView {
    fileprivate init(_ record: Interfaces.Record) {
        self.init(
            component: record.component, kind: record.kind, key: record.key, actor: record.actor,
            value: record.value.bytes)
    }
}
