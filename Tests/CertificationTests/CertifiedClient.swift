import Certification
import Varlink

/// A run by our client: each call is handed what the one before it answered.
struct CertifiedClient {
    let client: VarlinkClient

    /// How far it came.
    struct Outcome: Equatable {
        var strings: [String] = []
        var isOK = false
    }

    /// Makes all calls.
    ///
    /// - Throws: What the service says against it.
    func run() async throws -> Outcome {
        let run = try await client.call(Certification.Start.self, .init()).client_id
        let mytype = try await askForEverything(run)
        var outcome = Outcome()
        let series = client.stream(
            Certification.Test10.self, .init(client_id: run, mytype: mytype))
        for try await reply in series { outcome.strings.append(reply.string) }
        client.oneway(
            Certification.Test11.self, .init(client_id: run, last_more_replies: outcome.strings))
        outcome.isOK = try await client.call(Certification.End.self, .init(client_id: run)).all_ok
        return outcome
    }

    private func askForEverything(_ run: String) async throws -> MyType {
        let one = try await client.call(Certification.Test01.self, .init(client_id: run))
        let two = try await client.call(
            Certification.Test02.self, .init(client_id: run, bool: one.bool))
        let three = try await client.call(
            Certification.Test03.self, .init(client_id: run, int: two.int))
        let four = try await client.call(
            Certification.Test04.self, .init(client_id: run, float: three.float))
        let five = try await client.call(
            Certification.Test05.self, .init(client_id: run, string: four.string))
        let six = try await client.call(
            Certification.Test06.self,
            .init(
                client_id: run, bool: five.bool, int: five.int, float: five.float,
                string: five.string))
        let seven = try await client.call(
            Certification.Test07.self,
            .init(
                client_id: run,
                struct: .init(
                    bool: six.struct.bool, int: six.struct.int, float: six.struct.float,
                    string: six.struct.string)))
        let eight = try await client.call(
            Certification.Test08.self, .init(client_id: run, map: seven.map))
        let set = eight.set.mapValues { _ in Certification.Test09.Parameters.Set() }
        return try await client.call(
            Certification.Test09.self, .init(client_id: run, set: set)
        ).mytype
    }
}
