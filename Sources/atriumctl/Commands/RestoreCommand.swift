import ArgumentParser
import Glibc

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the store of a stopped daemon by a backup.",
        discussion: """
            Runs 'atriumd --restore' on this machine, and takes no --socket and no --json: stop the daemon \
            first. The backup is looked over before anything is changed. The store gets a new identity: \
            subscribers with an older cursor are notified of a gap. Where ATRIUM_SOCKET names a daemon, \
            --state-directory or --config has to name its store, too.
            """,
        examples: "atriumctl restore nightly.backup")

    @Argument(help: "The backup; - reads it from standard input.", completion: .file())
    var file: String

    @Flag(help: "If a store exists, keep it under another name and replace it.")
    var replace = false

    @Option(
        help: ArgumentHelp("The state directory, which has the store.", valueName: "folder"),
        completion: .directory)
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp("The daemon's configuration file.", valueName: "file"),
        completion: .file())
    var config: String?

    func run() throws {
        try checkStoreIsMeant()
        // Its errors begin with the name that it is called by.
        var words = ["atriumctl", "--restore", file]
        if replace { words.append("--replace") }
        if let stateDirectory { words += ["--state-directory", stateDirectory] }
        if let config { words += ["--config", config] }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        // The one that was installed with this client, else the first one that a shell would find.
        if let own = realpath("/proc/self/exe", nil) {
            let folder = String(cString: own).split(separator: "/").dropLast().joined(
                separator: "/")
            free(own)
            if access("/\(folder)/atriumd", X_OK) == 0 {
                return try wait(for: "/\(folder)/atriumd", &arguments)
            }
        }
        try wait(for: "atriumd", &arguments)
    }

    /// Refuses to replace the store of the machine's own daemon where other commands reach another one.
    private func checkStoreIsMeant() throws {
        func given(_ variable: String) -> String? {
            Terminal.environment(variable).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard stateDirectory == nil, config == nil, let socket = given("ATRIUM_SOCKET"),
            given("ATRIUM_STATE_DIRECTORY") == nil, given("STATE_DIRECTORY") == nil
        else { return }
        throw CommandFailure(
            "ATRIUM_SOCKET names the daemon at \(socket), and not the folder of its store",
            hint: "name that too: --state-directory FOLDER. "
                + "'env -u ATRIUM_SOCKET atriumctl restore …' restores that of this machine's own daemon.",
            status: .usage)
    }

    /// Runs the daemon's program to its end, which has exit statuses of its own.
    private func wait(
        for program: String, _ arguments: inout [UnsafeMutablePointer<CChar>?]
    ) throws {
        // Ctrl-C ends it, and then this command.
        var process = pid_t()
        let code = posix_spawnp(&process, program, nil, nil, &arguments, environ)
        guard code == 0 else {
            throw CommandFailure(
                "can't run atriumd: \(String(cString: strerror(code)))",
                hint: "restore on the machine of the daemon, where it is installed.")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status != 0 else { return }
        let isUsage = status & 0x7F == 0 && status >> 8 == Self.usage
        throw ExitCode((isUsage ? CommandFailure.Status.usage : .refused).rawValue)
    }

    /// What the daemon ends with for a command line that is wrong.
    private static let usage: Int32 = 64
}
