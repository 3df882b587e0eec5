internal import CProcess
internal import Glibc
internal import Varlink

/// A plugin's program: started within the worker's walls, called over one socket, and ended with the worker.
///
/// It has the socket as descriptor 3, the worker's standard output and error, whose lines are logged, and its own
/// folder as its working directory. The kernel kills it when the thread that started it ends, which is that of the
/// worker's loop.
final class ProgramProcess {
    /// Returns the time that a call may take, other than the first ones.
    ///
    /// The host ends the worker earlier if it waits for the call; calls that load records have 30 s there.
    ///
    /// - Parameter callTime: the host's limit for a call.
    /// - Returns: the time, at least 35 s.
    static func deadline(where callTime: Duration) -> Duration {
        max(.seconds(30), callTime) + .seconds(5)
    }

    /// The time that a call may take for which the host does not wait: `Listen` of votes, and `Values`.
    ///
    /// Other calls wait meanwhile, and after a longer time the host would end the worker and blame one of them.
    static let listenDeadline = Duration.seconds(2)
    /// The time that each of the first calls may take, since an interpreter may have to be read from a disk.
    static let startDeadline = Duration.seconds(10)

    /// Its path, as messages name it.
    let path: String
    let client: VarlinkBlockingClient
    private let id: pid_t

    /// Starts a program; throws why it can't be started, as the rest of a sentence.
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
                    + "as '#!/usr/bin/python3'; that has to be installed where workers may read: below /usr",
                mayPass: [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(-started))
        }
        self.path = path
        id = started
        // A process that it has started may hold its end of the socket open.
        client = VarlinkBlockingClient(
            descriptor: pair.ours, ended: process_watch(started), allowsUnknownMembers: false)
    }

    /// Returns how the process ended, as the rest of a sentence, and whether a signal ended it; nil: it is still
    /// running after a second.
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

/// A program's fault, as the continuation of "The program PATH of the plugin ID".
struct ProgramFailure: Error {
    let reason: String
    /// Whether a retry may help: the machine lacked something, or was slow.
    let mayPass: Bool

    init(_ reason: String, mayPass: Bool = false) {
        self.reason = reason
        self.mayPass = mayPass
    }
}
