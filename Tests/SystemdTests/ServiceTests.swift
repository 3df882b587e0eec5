import Foundation
import Testing

/// The installed service under a real systemd, which `Tests/with-systemd` boots in namespaces of
/// its own.
///
/// Needs root, and the programs that `swift build --build-tests` leaves beside the tests.
@Suite(.enabled(if: geteuid() == 0, "boots a systemd, as root alone can"))
struct ServiceTests {
    /// What happens on one machine, in order; each `tell` is a line that the test looks at.
    private static let story = """
        tell() { echo "$1: ${*:2}"; }
        as() { runuser -u "$1" -- "${@:2}"; }
        mount --bind "$1/usr/local" /usr/local
        systemd-sysusers 2>/dev/null && systemd-tmpfiles --create atrium.conf
        useradd --no-create-home --groups atrium atrium-member
        useradd --no-create-home atrium-stranger
        systemctl daemon-reload && systemctl start atriumd.socket
        tell before $(systemctl is-active atriumd)

        as atrium-member atriumctl status >/dev/null
        answered=$?
        # The call may be answered before systemd has read READY=1: this waits for it.
        systemctl start atriumd
        tell first-call $answered $(systemctl is-active atriumd) $(systemctl show -p User --value atriumd)
        tell status-text $(systemctl show -p StatusText --value atriumd)

        examples=/usr/local/share/atrium/examples
        atriumctl apply -f $examples/films.yaml >/dev/null && atriumctl import films $examples/films.ndjson >/dev/null
        tell import $?
        as atrium-member atriumctl vote films/the-godfather-1972 5 >/dev/null
        tell vote $?
        tell stranger $(as atrium-stranger atriumctl status 2>&1 >/dev/null) $(as atrium-stranger atriumctl status 2>/dev/null; echo $?)

        systemctl reload atriumd
        tell reload $?
        systemctl restart atriumd
        tell kept $(as atrium-member atriumctl list films --limit 1 --json | grep -c '"items"')
        systemctl stop atriumd.socket atriumd
        tell stop $(systemctl show -p Result --value atriumd) $(systemctl is-failed atriumd)
        journalctl --sync
        tell journal $(journalctl -u atriumd -o json --output-fields=LOGGER | grep -c '"LOGGER"')
        tell complaints $(journalctl -u atriumd -p err -o cat)
        """

    @Test(.timeLimit(.minutes(2)))
    func `the installed service starts at the first call, serves its group and stops in order`()
        throws
    {
        let tree = FileManager.default.temporaryDirectory.appending(
            path: "atrium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: tree) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path(percentEncoded: false)
        let path = tree.path(percentEncoded: false)
        _ = try run(
            "make", "-C", root, "lay-down", "DESTDIR=\(path)", "PREFIX=/usr/local",
            "PRODUCTS=\(root).build/debug")
        let told = try run(
            root + "Tests/with-systemd", "--bind", path, "--", "bash", "-c", Self.story, "story",
            path)

        #expect(told["before"] == "inactive")
        #expect(told["first-call"] == "0 active atrium")
        #expect(told["status-text"]?.isEmpty == false)
        #expect(told["import"] == "0")
        #expect(told["vote"] == "0")
        #expect(
            told["stranger"]?.hasSuffix(" 3") == true, "unreachable for who is not in the group")
        #expect(told["stranger"]?.contains("group") == true, "and told which group to join")
        #expect(told["reload"] == "0")
        #expect(told["kept"] == "1")
        #expect(told["stop"] == "success inactive")
        #expect(told["journal"] != "0", "log lines carry their fields")
        #expect(told["complaints"] == "")
    }

    /// Runs a command and gives the lines `name: value` that it printed.
    private func run(_ command: String...) throws -> [String: String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command[0]) \(command[1]): \(text)")
        let pairs = text.split(separator: "\n").compactMap { line in
            line.firstRange(of: ":").map {
                (String(line[..<$0.lowerBound]), line[$0.upperBound...].trimmingPrefix(" "))
            }
        }
        return Dictionary(pairs.map { ($0, String($1)) }) { $1 }
    }
}
