import ArgumentParser
import Control
import Glibc
import LogMessages
import Store
import Systemd
import Varlink

/// Why the daemon can't start, as the service manager and its administrator are told.
struct StartFailure {
    /// How the process ends: the statuses of sysexits(3), whose names systemd knows.
    enum Status: Int32 {
        /// The store's file is damaged, another program's, or of a newer version.
        case data = 65
        /// Something that should not be.
        case software = 70
        /// The system refused something basic.
        case system = 71
        /// A file or a socket can't be made.
        case cantCreate = 73
        /// Reading or writing failed.
        case io = 74
        /// It may work later: another process has the store, or the disk is full.
        case temporary = 75
        /// A file may not be read or written.
        case permission = 77
        /// A setting or the configuration file is wrong.
        case configuration = 78
    }

    /// How the process ends.
    let status: Status
    /// The system's number that comes nearest; 0 for none.
    let errno: Int32
    /// A sentence.
    let reason: String

    /// The event in the log.
    let message: LogMessage

    /// Sorts what was thrown.
    init(_ error: any Error) {
        reason = "\(error)"
        message = Self.message(for: error)
        (status, errno) =
            switch error {
            case let error as DaemonError: (error.status, error.errno)
            case is DefinitionProblem: (.configuration, EINVAL)
            case let error as StoreError: Self.sort(error)
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
        case StoreError.corrupt: .storeDamaged
        default: .startFailed
        }
    }

    private static func sort(_ error: StoreError) -> (Status, Int32) {
        switch error {
        case .inUse: (.temporary, EBUSY)
        case .full: (.temporary, ENOSPC)
        case .newerSchema, .foreign: (.data, EINVAL)
        case .corrupt: (.data, EUCLEAN)
        case .notWritable: (.permission, EACCES)
        case .failed: (.io, EIO)
        case .closed: (.software, EBADF)
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
        // Somebody else's socket or file is in the way.
        case nil: (.cantCreate, EADDRINUSE)
        case EACCES, EPERM, EROFS: (.permission, error.code ?? EACCES)
        case ENAMETOOLONG: (.configuration, ENAMETOOLONG)
        case let code?: (.cantCreate, code)
        }
    }
}

/// Why the daemon can't start, in a sentence.
struct DaemonError: Error, CustomStringConvertible {
    let description: String
    let status: StartFailure.Status
    let errno: Int32

    /// What an administrator set is wrong, unless told otherwise.
    init(
        _ description: String, status: StartFailure.Status = .configuration,
        errno: Int32 = EINVAL
    ) {
        self.description = description
        self.status = status
        self.errno = errno
    }
}
