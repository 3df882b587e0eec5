internal import CProcess
internal import Glibc
internal import Varlink

/// A plugin's program: started within the worker's walls, called over one socket, and gone when the worker is.
///
/// It has the socket as its descriptor 3, the worker's standard output and error, which become log lines, and its own
/// folder to work in. The kernel kills it when the thread that started it ends, which is that of the worker's loop.
final class ProgramProcess {
    /// The most that a call may take, but for the first ones, where the host lets one take a time.
    ///
    /// The host ends the worker before that, where it waits for it; while records are loaded it has 30 s.
    static func deadline(where callTime: Duration) -> Duration {
        max(.seconds(30), callTime) + .seconds(5)
    }

    /// The most that `Listen` may take: calls wait meanwhile, and the host would end the worker and blame one of them.
    static let listenDeadline = Duration.seconds(2)
    /// The most that the first calls may take: an interpreter may have to be read from a disk.
    static let startDeadline = Duration.seconds(10)

    /// Its path, as messages name it.
    let path: String
    let client: VarlinkBlockingClient
    private let id: pid_t

    /// Starts a program.
    ///
    /// - Throws: why it can't be started, in words.
    init(_ path: String) throws(ProgramFailure) {
        let pair: SocketPair
        do throws(WorkerProcess.Problem) {
            pair = try SocketPair()
        } catch {
            throw ProgramFailure(error.reason, mayPass: error.mayPass)
        }
        let words = [strdup(path), nil]
        defer { free(words[0]) }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let started = process_start_program(path, folder.isEmpty ? "/" : folder, words, pair.theirs)
        pair.closeTheirs()
        guard started > 0 else {
            Glibc.close(pair.ours)
            throw ProgramFailure(
                "can't be started: \(String(cString: strerror(-started))). Its first line names what runs it, "
                    + "as '#!/usr/bin/env python3'; that has to be installed where workers may read: below /usr",
                mayPass: [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(-started))
        }
        self.path = path
        id = started
        client = VarlinkBlockingClient(descriptor: pair.ours, allowsUnknownMembers: false)
    }

    /// How it ended, as the rest of a sentence, and whether by a signal; nil: it is alive a second later.
    func end() -> (words: String, isBySignal: Bool)? {
        let deadline = ContinuousClock.now + .seconds(1)
        var status: Int32 = 0
        while waitpid(id, &status, WNOHANG) == 0 {
            guard ContinuousClock.now < deadline else { return nil }
            usleep(1_000)
        }
        return (WorkerProcess.describe(status), status & 0x7f != 0)
    }
}

/// What a program did wrong, as it follows on "The program PATH of the plugin ID".
struct ProgramFailure: Error {
    let reason: String
    /// Whether trying again may help: the machine was short of something, or slow.
    let mayPass: Bool

    init(_ reason: String, mayPass: Bool = false) {
        self.reason = reason
        self.mayPass = mayPass
    }
}
