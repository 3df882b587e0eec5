internal import JSONCodec
internal import Synchronization
internal import Varlink

/// The service of `org.varlink.certification`: checks each call of a run against the one it wants.
///
/// A run whose client made a mistake is over.
final class Certifier: CertificationService {
    /// By the runs' names, which method comes next: its place in the definition.
    private let next = Mutex<[String: Int]>([:])

    func start(
        _ parameters: Certification.Start.Parameters, call: VarlinkCall<Certification.Start.Reply>
    ) {
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        next.withLock { $0[name] = 1 }
        call.reply(.init(client_id: name))
    }

    func test01(
        _ parameters: Certification.Test01.Parameters, call: VarlinkCall<Certification.Test01.Reply>
    ) {
        let run = parameters.client_id
        guard accepts(Certification.Test01.self, parameters, run, call, .init(client_id: run))
        else { return }
        call.reply(.init(bool: true))
    }

    func test02(
        _ parameters: Certification.Test02.Parameters, call: VarlinkCall<Certification.Test02.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test02.Parameters(client_id: run, bool: true)
        guard accepts(Certification.Test02.self, parameters, run, call, wants) else { return }
        call.reply(.init(int: 1))
    }

    func test03(
        _ parameters: Certification.Test03.Parameters, call: VarlinkCall<Certification.Test03.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test03.Parameters(client_id: run, int: 1)
        guard accepts(Certification.Test03.self, parameters, run, call, wants) else { return }
        call.reply(.init(float: 1))
    }

    func test04(
        _ parameters: Certification.Test04.Parameters, call: VarlinkCall<Certification.Test04.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test04.Parameters(client_id: run, float: 1)
        guard accepts(Certification.Test04.self, parameters, run, call, wants) else { return }
        call.reply(.init(string: "ping"))
    }

    func test05(
        _ parameters: Certification.Test05.Parameters, call: VarlinkCall<Certification.Test05.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test05.Parameters(client_id: run, string: "ping")
        guard accepts(Certification.Test05.self, parameters, run, call, wants) else { return }
        call.reply(.init(bool: false, int: 2, float: .pi, string: "a lot of string"))
    }

    func test06(
        _ parameters: Certification.Test06.Parameters, call: VarlinkCall<Certification.Test06.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test06.Parameters(
            client_id: run, bool: false, int: 2, float: .pi, string: "a lot of string")
        guard accepts(Certification.Test06.self, parameters, run, call, wants) else { return }
        call.reply(
            .init(struct: .init(bool: false, int: 2, float: .pi, string: "a lot of string")))
    }

    func test07(
        _ parameters: Certification.Test07.Parameters, call: VarlinkCall<Certification.Test07.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test07.Parameters(
            client_id: run,
            struct: .init(bool: false, int: 2, float: .pi, string: "a lot of string"))
        guard accepts(Certification.Test07.self, parameters, run, call, wants) else { return }
        call.reply(.init(map: Values.map))
    }

    func test08(
        _ parameters: Certification.Test08.Parameters, call: VarlinkCall<Certification.Test08.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test08.Parameters(client_id: run, map: Values.map)
        guard accepts(Certification.Test08.self, parameters, run, call, wants) else { return }
        call.reply(.init(set: ["one": .init(), "two": .init(), "three": .init()]))
    }

    func test09(
        _ parameters: Certification.Test09.Parameters, call: VarlinkCall<Certification.Test09.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test09.Parameters(
            client_id: run, set: ["one": .init(), "two": .init(), "three": .init()])
        guard accepts(Certification.Test09.self, parameters, run, call, wants) else { return }
        call.reply(.init(mytype: Values.everything))
    }

    func test10(
        _ parameters: Certification.Test10.Parameters, call: VarlinkCall<Certification.Test10.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        let run = parameters.client_id
        let wants = Certification.Test10.Parameters(client_id: run, mytype: Values.everything)
        guard accepts(Certification.Test10.self, parameters, run, call, wants, flag: "more")
        else { return }
        for text in Values.replies.dropLast() { call.replyContinues(.init(string: text)) }
        call.reply(.init(string: Values.replies.last ?? ""))
    }

    func test11(
        _ parameters: Certification.Test11.Parameters, call: VarlinkCall<Certification.Test11.Reply>
    ) {
        let run = parameters.client_id
        let wants = Certification.Test11.Parameters(
            client_id: run, last_more_replies: Values.replies)
        guard accepts(Certification.Test11.self, parameters, run, call, wants, flag: "oneway")
        else { return }
        call.reply(.init())
    }

    func end(
        _ parameters: Certification.End.Parameters, call: VarlinkCall<Certification.End.Reply>
    ) {
        let run = parameters.client_id
        guard accepts(Certification.End.self, parameters, run, call, .init(client_id: run))
        else { return }
        call.reply(.init(all_ok: true))
    }

    /// Whether a call is what its run wants next; if not, it is failed and the run is over.
    private func accepts<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, _ run: String,
        _ call: VarlinkCall<Method.Reply>, _ wanted: Method.Parameters, flag: String? = nil
    ) -> Bool {
        // Whatever comes of it, the call is looked for once.
        guard let place = next.withLock({ $0.removeValue(forKey: run) }) else {
            call.fail(Certification.ClientIdError())
            return false
        }
        let gotFlag = call.wantsMore ? "more" : call.isOneway ? "oneway" : nil
        let got = Message(Method.name, parameters, flag: gotFlag)
        let wants =
            Certification.methodNames[place] == Method.name
            ? Message(Method.name, wanted, flag: flag)
            : Message(Certification.methodNames[place])
        guard got == wants else {
            call.fail(Certification.CertificationError(wants: wants.object, got: got.object))
            return false
        }
        if Method.name != Certification.methodNames.last {
            next.withLock { $0[run] = place + 1 }
        }
        return true
    }
}
