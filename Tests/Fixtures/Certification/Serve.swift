internal import Foundation
internal import Logging
internal import NIOPosix
internal import Varlink

/// `Certification --socket PATH [--mutant NAME]`: serves until its standard input ends.
@main
struct Serve {
    private let path: String
    private let mutant: Mutant?
    private let server: VarlinkServer

    static func main() async {
        do {
            try await parse(CommandLine.arguments.dropFirst()).run()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    private static func parse(_ arguments: ArraySlice<String>) throws -> Serve {
        var path: String?
        var mutant: Mutant?
        var rest = arguments
        while let option = rest.popFirst(), let value = rest.popFirst() {
            switch option {
            case "--socket": path = value
            case "--mutant":
                mutant = Mutant(rawValue: value)
                if mutant == nil { throw Failure(reason: "there is no mutant \(value)") }
            default: throw Failure(reason: "there is no option \(option)")
            }
        }
        guard let path else { throw Failure(reason: "--socket is missing") }
        return Serve(path: path, mutant: mutant)
    }

    private init(path: String, mutant: Mutant?) {
        self.path = path
        self.mutant = mutant
        var router = VarlinkRouter(
            vendor: "Atrium", product: "Certification", version: "1", url: "https://varlink.org")
        Certifier().register(in: &router)
        server = VarlinkServer(
            on: MultiThreadedEventLoopGroup.singleton.next(), router: router,
            logger: Logger(label: "certification") { StreamLogHandler.standardError(label: $0) })
    }

    private func run() async throws {
        if let mutant {
            let listener = try listen()
            Thread.detachNewThread { accept(on: listener, as: mutant) }
        } else {
            try await server.listen(at: .path(path))
        }
        print("Listening on \(path)")
        fflush(nil)
        while readLine() != nil {}
    }

    /// Serves each peer through a relay on a thread of its own.
    private func accept(on listener: Int32, as mutant: Mutant) {
        while true {
            let peer = Glibc.accept(listener, nil, nil)
            var pair: [Int32] = [-1, -1]
            guard peer >= 0, socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0
            else { return }
            let relay = Relay(
                mutant: mutant, peer: FrameSocket(peer), service: FrameSocket(pair[0]))
            let served = pair[1]
            Task { try await server.serve(served) }
            Thread.detachNewThread { relay.run() }
        }
    }

    private func listen() throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        guard bound == 0, Glibc.listen(listener, 16) == 0 else {
            throw Failure(reason: "can't listen at \(path): \(String(cString: strerror(errno)))")
        }
        return listener
    }

    private struct Failure: Error {
        let reason: String
    }
}
