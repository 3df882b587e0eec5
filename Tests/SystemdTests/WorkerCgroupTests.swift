import Foundation
import Testing

/// The cgroups of workers under a real systemd.
@Suite(Machine.boots)
struct WorkerCgroupTests {
    private static let memory: ConditionTrait = .enabled(
        if: (try? String(contentsOfFile: "/sys/fs/cgroup/cgroup.controllers", encoding: .utf8))?
            .contains("memory") == true,
        "needs the memory controller in version 2 of cgroups, mounted at /sys/fs/cgroup")

    private static let processor: ConditionTrait = .enabled(
        if: (try? String(contentsOfFile: "/sys/fs/cgroup/cgroup.controllers", encoding: .utf8))?
            .split(whereSeparator: \.isWhitespace).contains("cpu") == true,
        "needs the cpu controller in version 2 of cgroups, mounted at /sys/fs/cgroup")

    /// `$group` is the service's cgroup; `members NAME` tells who is in one of its parts.
    private static let groups = """
        group=/sys/fs/cgroup/system.slice/atriumd.service
        members() { cat $group/$1/cgroup.procs; }

        """

    @Test(.timeLimit(.minutes(3)))
    func `a worker ends with all that it started, and its cgroup goes away`() async throws {
        let told = try await Machine.play(
            Machine.den + Self.groups + """
                printf '[Service]\\nExecPaths=/usr/bin\\n' | drop_in atriumd.service
                systemctl start atriumd
                tell main $(($(members main) == $(systemctl show -p MainPID --value atriumd)))
                attempt child >/dev/null
                worker=$(pgrep atrium-worker) child=$(pgrep -x sleep)
                tell together $(members workers/den.list | sort -n | tr '\\n' ' ' | grep -c "$worker $child")
                kill -KILL $worker
                wait_for bash -c "! kill -0 $child 2>/dev/null"
                tell gone $?
                wait_for test "$(pgrep atrium-worker)" != "$worker"
                tell again $? $(attempt process)
                atriumctl detach den list >/dev/null
                wait_for bash -c "! ls -d $group/workers/*/ 2>/dev/null"
                tell removed $?
                """, preparing: Machine.layDownBreaker)
        #expect(told["main"] == "1")
        #expect(told["together"] == "1")
        #expect(told["gone"] == "0")
        #expect(told["again"] == "0 No such file or directory", "the new one answers")
        #expect(told["removed"] == "0")
    }

    @Test(.timeLimit(.minutes(3)))
    func `who is in a worker's cgroup can't connect, though the user may do everything`()
        async throws
    {
        let told = try await Machine.play(
            Machine.den + Self.groups + """
                systemctl start atriumd
                own() { setpriv --reuid=atrium --regid=atrium --clear-groups atriumctl status; }
                own >/dev/null
                tell outside $?
                (echo $BASHPID >$group/workers/den.list/cgroup.procs; own) &>/dev/null
                tell inside $(($? != 0))
                tell logged $(logged | grep -c "it is a worker's process")
                """, preparing: Machine.layDownBreaker)
        #expect(told["outside"] == "0")
        #expect(told["inside"] == "1")
        #expect(told["logged"] == "1")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a crash of the daemon takes its workers along, and a new one starts where it was`()
        async throws
    {
        let told = try await Machine.play(
            Machine.den + Self.groups + """
                systemctl start atriumd
                worker=$(members workers/den.list)
                kill -KILL $(members main)
                wait_for bash -c "! kill -0 $worker 2>/dev/null"
                tell gone $?
                wait_for atriumctl describe den &>/dev/null
                tell back $? $(systemctl show -p NRestarts --value atriumd) $(members workers/den.list | wc -l)
                systemctl reload atriumd
                tell reload $?
                # After a crash systemd may have had to; after an orderly stop nobody is left.
                killed() { logged | grep -c 'Killing process'; }
                before=$(killed)
                systemctl stop atriumd
                tell left $(ls -d $group 2>/dev/null) $(($(killed) - before))
                """, preparing: Machine.layDownBreaker)
        #expect(told["gone"] == "0")
        #expect(told["back"] == "0 1 1")
        #expect(told["reload"] == "0", "a control process has a cgroup of its own")
        #expect(told["left"] == "0", "the daemon waits for its workers")
    }

    @Test(.timeLimit(.minutes(3)), processor)
    func `a worker gets one processor, or what the settings say`() async throws {
        let told = try await Machine.play(
            Machine.den + Self.groups + """
                systemctl start atriumd
                tell default $(cat $group/workers/den.list/cpu.max)
                printf 'workerCpuMax: 50\\n' >>/etc/atrium/atrium.yaml
                systemctl restart atriumd
                tell set $(cat $group/workers/den.list/cpu.max)
                """, preparing: Machine.layDownBreaker)
        #expect(told["default"] == "100000 100000")
        #expect(told["set"] == "50000 100000")
    }

    @Test(.timeLimit(.minutes(3)), memory)
    func `a worker that takes too much memory is killed, and distinguished from a crash`()
        async throws
    {
        let told = try await Machine.play(
            Machine.den + Self.groups + """
                printf 'workerMemoryMax: 200M\\nworkerTasksMax: 50\\n' >>/etc/atrium/atrium.yaml
                systemctl start atriumd
                tell limits $(cat $group/workers/den.list/{memory.max,pids.max})
                attempt memory >/dev/null
                tell restarts $(systemctl show -p NRestarts --value atriumd)
                tell reason $(logged | grep -o 'it took more memory than its limit of [^"]*' | tail -1)
                """, preparing: Machine.layDownBreaker)
        #expect(told["limits"] == "209715200 50")
        #expect(
            told["reason"] == "it took more memory than its limit of 200 MiB (workerMemoryMax).")
    }
}

extension Machine {
    /// A container with a plugin that tries what it should not: `attempt NAME` tells what came of it.
    static let den = """
        printf 'pluginPath: [/usr/local/lib/atrium-more]\\n' >/etc/atrium/atrium.yaml
        mkdir -p /etc/atrium/containers.d
        printf '%s\\n' 'atrium: 1' 'container: den' 'components:' \\
            '  - { name: list, plugin: org.atrium.breaker }' >/etc/atrium/containers.d/den.yaml
        attempt() {
            atriumctl call org.atrium.Contents.Put \\
                '{"container":"den","items":[{"id":"try-'$1'","fields":{}}]}' 2>&1 |
                sed -n "s/^hint: try-$1: //p"
        }

        """

    /// Puts the plugin of ``den`` into the tree.
    static func layDownBreaker(_ tree: String) throws {
        let folder = tree + "/usr/local/lib/atrium-more/org.atrium.breaker"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: products + "/libBreaker.so", toPath: folder + "/libBreaker.so")
        let manifest = """
            {"id": "org.atrium.breaker", "version": "0.1.0", "kind": "contents",
             "library": "libBreaker.so", "title": "Breaker", "description": "Breaks."}
            """
        try manifest.write(toFile: folder + "/manifest.json", atomically: true, encoding: .utf8)
    }
}
