import Host
import Interfaces
import Varlink

/// Sends a verification's progress and findings to a call, no faster than the peer reads.
struct VerifyStream: Sendable {
    typealias Verify = Interfaces.Store.Verify

    let call: VarlinkCall<Verify.Reply>
    let context: ControlContext

    func start(_ container: String?) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        guard let container else { return begin(nil) }
        context.find(container, for: call, in: Interfaces.Store.self) { begin($0) }
    }

    private func begin(_ container: Host.Container?) {
        do throws(HostError) {
            follow(try context.registry.verifications.begin(of: container))
        } catch {
            call.fail(error.reply(of: Interfaces.Store.self, hasDetails: true))
        }
    }

    private func follow(_ id: VerificationID) {
        call.onClose { close(id) }
        call.onReview { review(id) }
        // The peer may have lost its role while the container was being started.
        review(id)
        advance(id)
    }

    private func review(_ id: VerificationID) {
        guard let denial = context.denial(of: Verify.name, wanting: .admin, to: call.peer) else {
            return
        }
        call.fail(denial)
        close(id)
    }

    private func close(_ id: VerificationID) { context.registry.verifications.close(id) }

    private func advance(_ id: VerificationID) {
        // Also false once the peer is gone: the closure is then never called.
        guard call.isWritable else { return call.onWritable { advance(id) } }
        context.registry.verifications.pull(id) { result in
            switch result {
            case .failure(let error):
                call.fail(error.reply(of: Interfaces.Store.self, hasDetails: true))
            case .success(let news) where news.report != nil: call.reply(.init(news))
            case .success(let news):
                call.replyContinues(.init(news))
                advance(id)
            }
        }
    }
}

extension Interfaces.Store.Verify.Reply {
    fileprivate init(_ news: VerificationNews) {
        self.init(
            progress: news.report == nil
                ? .init(
                    container: news.container, component: news.component, records: news.records)
                : nil,
            checked: news.report?.checked.map {
                .init(
                    container: $0.container, component: $0.component, kind: $0.kind,
                    records: $0.records, skipped: $0.skipped)
            },
            damage: news.report?.damage.map(Interfaces.Damage.init),
            sequence: Int(news.sequence))
    }
}

extension Interfaces.Damage {
    fileprivate init(_ damage: Host.Damage) {
        let kind: Kind =
            switch damage.kind {
            case .unreadable: .unreadable
            case .checksum: .checksum
            case .missing: .missing
            case .shown: .shown
            case .log: .log
            case .file: .file
            }
        self.init(
            container: damage.container, component: damage.component, kind: kind,
            count: damage.count, keys: damage.keys, found: damage.found, advice: damage.advice)
    }
}
