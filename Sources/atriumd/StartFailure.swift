import Control
import Glibc
import Host
import LogMessages
import Store
import Systemd
import Varlink

/// Why the daemon can't start, as reported to the service manager and the log.
struct StartFailure {
    /// The exit status: the values of sysexits(3), whose names systemd knows.
    enum Status: Int32 {
        /// The store's file is damaged, or was written by another program or a newer version.
        case data = 65
        /// An internal error.
        case software = 70
        /// A basic request to the system failed.
        case system = 71
        /// A file or a socket can't be created.
        case cantCreate = 73
        /// Reading or writing failed.
        case io = 74
        /// A retry may succeed: another process uses the store, or the disk is full.
        case temporary = 75
        /// A file may not be read or written.
        case permission = 77
        /// A setting or the configuration file is wrong.
        case configuration = 78
    }

    /// The exit status.
    let status: Status
    /// The closest error number of the system; 0: none.
    let errno: Int32
    /// The reason, as a sentence.
    let reason: String

    /// The message in the log.
    let message: LogMessage

    init(_ error: any Error) {
        reason = (error as? HostError)?.sentence ?? "\(error)"
        message = Self.message(for: error)
        (status, errno) =
            switch error {
            case let error as DaemonError: (error.status, error.errno)
            case is DefinitionProblem: (.configuration, EINVAL)
            case let error as StoreError: Self.sort(error)
            case let error as HostError: Self.sort(error)
            case let error as RestoreError: Self.sort(error)
            case let error as VarlinkBindError: Self.sort(error)
            case let error as ListenError: (.system, error.errno)
            default: (.software, 0)
            }
    }

    private static func message(for error: any Error) -> LogMessage {
        switch error {
        case let error as DaemonError:
            error.status == .configuration ? .settingsWrong : .startFailed
        case is DefinitionProblem: .settingsWrong
        case StoreError.inUse: .storeInUse
        case StoreError.corrupt, StoreError.lost, HostError.storeUnavailable(_, retryAfter: nil):
            .storeDamaged
        default: .startFailed
        }
    }

    private static func sort(_ error: StoreError) -> (Status, Int32) {
        switch error {
        case .inUse: (.temporary, EBUSY)
        case .full: (.temporary, ENOSPC)
        case .newerSchema, .foreign: (.data, EINVAL)
        case .corrupt: (.data, EUCLEAN)
        case .lost, .gone: (.data, ENOENT)
        case .notWritable: (.permission, EACCES)
        case .noFile: (.cantCreate, EEXIST)
        case .failed: (.io, EIO)
        case .closed: (.software, EBADF)
        }
    }

    /// Returns the exit status and the system's error for an error of reading containers from an open store.
    private static func sort(_ error: HostError) -> (Status, Int32) {
        switch error {
        // A retry would find the same damage.
        case .storeUnavailable(_, retryAfter: nil): (.data, EUCLEAN)
        case .storeUnavailable: (.io, EIO)
        default: (.software, 0)
        }
    }

    private static func sort(_ error: RestoreError) -> (Status, Int32) {
        switch error {
        case .unreadable: (.permission, EACCES)
        case .foreign, .truncated, .withLog, .damaged, .newer: (.data, EINVAL)
        case .storeThere: (.cantCreate, EEXIST)
        case .noRoom: (.temporary, ENOSPC)
        case .store(let error): sort(error)
        }
    }

    private static func sort(_ error: VarlinkBindError) -> (Status, Int32) {
        switch error.code {
        // A socket or file of another program uses the path.
        case nil: (.cantCreate, EADDRINUSE)
        case EACCES, EPERM, EROFS: (.permission, error.code ?? EACCES)
        case ENAMETOOLONG: (.configuration, ENAMETOOLONG)
        case let code?: (.cantCreate, code)
        }
    }
}

/// An error that keeps the daemon from starting, as a sentence.
struct DaemonError: Error, CustomStringConvertible {
    let description: String
    let status: StartFailure.Status
    let errno: Int32

    /// Creates an error; by default, a setting of the administrator is wrong.
    init(
        _ description: String, status: StartFailure.Status = .configuration,
        errno: Int32 = EINVAL
    ) {
        self.description = description
        self.status = status
        self.errno = errno
    }
}
