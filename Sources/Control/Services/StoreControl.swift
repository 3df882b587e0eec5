import Foundation
import Host
import Interfaces
import Varlink

/// `org.atrium.Store`: the store as a whole, for administrators.
struct StoreControl: StoreService {
    let context: ControlContext

    func backup(
        _ parameters: Interfaces.Store.Backup.Parameters,
        call: VarlinkCall<Interfaces.Store.Backup.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        let begun = Result { () throws(HostError) in try context.registry.backups.begin() }
        switch begun {
        case .success(let id): BackupStream(call: call, id: id, context: context).start()
        case .failure(let error):
            call.fail(error.reply(of: Interfaces.Store.self, hasDetails: true))
        }
    }

    func verify(
        _ parameters: Interfaces.Store.Verify.Parameters,
        call: VarlinkCall<Interfaces.Store.Verify.Reply>
    ) {
        VerifyStream(call: call, context: context).start(parameters.container)
    }
}

/// Sends a backup's parts to a call, each one only after the peer has read the one before.
private struct BackupStream: Sendable {
    let call: VarlinkCall<Interfaces.Store.Backup.Reply>
    let id: BackupID
    let context: ControlContext

    func start() {
        call.onClose { close() }
        call.onReview { review() }
        advance()
    }

    private func review() {
        guard
            let denial = context.denial(
                of: Interfaces.Store.Backup.name, wanting: .admin, to: call.peer)
        else { return }
        call.fail(denial)
        close()
    }

    private func close() { context.registry.backups.close(id) }

    private func advance() {
        // Also false once the peer is gone: the closure is then never called.
        guard call.isWritable else { return call.onWritable { advance() } }
        // A part is encoded on the thread that reads it: on the loop it would take a millisecond.
        context.registry.backups.pull(id) { part in
            let reply = Interfaces.Store.Backup.Reply(part)
            return (part.isLast ? nil : VarlinkCall.frame(reply), reply)
        } _: { result in
            switch result {
            case .failure(let error):
                call.fail(error.reply(of: Interfaces.Store.self, hasDetails: true))
            case .success((let frame?, _)):
                call.replyRaw(frame)
                advance()
            case .success((nil, let reply)): call.reply(reply)
            }
        }
    }
}

extension Interfaces.Store.Backup.Reply {
    fileprivate init(_ part: BackupPart) {
        self.init(
            data: Data(part.bytes).base64EncodedString(), bytes: part.total,
            sequence: Int(part.sequence), store: part.store)
    }
}
