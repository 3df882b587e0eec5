import Testing

/// A start: what systemd and its administrator are told of it.
@Suite(Machine.boots)
struct StartTests {
    private static let broken = """
        atrium: 1
        container: broken
        fields: { title: { type: text } }
        components: [{ name: list, plugin: org.atrium.breaker }]
        """

    @Test(.timeLimit(.minutes(2)))
    func `a start is ready once each container is there or has said why not`() async throws {
        let told = try await Machine.play(
            """
            folder=/etc/atrium/containers.d
            cp /usr/local/share/atrium/examples/films.yaml $folder
            echo '\(Self.broken)' >$folder/broken.yaml
            systemctl start atriumd
            tell first $? $(unit StatusText)
            systemctl stop atriumd

            rm -r /usr/local/lib/atrium/plugins/org.atrium.breaker
            rm $folder/broken.yaml
            echo 'contaner: x' >$folder/mistyped.yaml
            systemctl start atriumd
            tell second $? $(atriumctl describe films >/dev/null; echo $?) $(unit StatusText)
            tell mistyped $(logged | grep -c contaner)
            atriumctl import films /usr/local/share/atrium/examples/films.ndjson >/dev/null
            shows() { unit StatusText | grep -q "$1"; }
            wait_for shows ' 125 items'
            tell follows $?
            rm $folder/mistyped.yaml && systemctl reload atriumd
            tell fewer $(unit StatusText)
            systemctl stop atriumd
            tell stopped $(unit Result) $(unit ExecMainStatus)
            """, preparing: Machine.installBreaker)
        #expect(told["first"] == "0 serving 2 containers, 0 items, 12 plugins")
        let second = try #require(told["second"])
        #expect(second.hasPrefix("0 0 serving 2 containers, 0 items, 11 plugins; 2 problems, the"))
        #expect(second.contains("mistyped.yaml:1"), "\(second)")
        #expect(told["mistyped"] == "1", "each problem is told once")
        #expect(told["follows"] == "0")
        let fewer = try #require(told["fewer"])
        #expect(fewer.contains("125 items, 11 plugins; 1 problem: The component broken/list"))
        #expect(told["stopped"] == "success 0")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a start that goes on gets more time, and one that hangs does not`() async throws {
        let told = try await Machine.play(
            """
            systemctl start atriumd
            echo '\(Self.broken)' | atriumctl apply -f - >/dev/null
            seq 300 | sed 's/.*/{"id":"i&","fields":{"title":"&"}}/' | atriumctl import broken - >/dev/null
            tell imported $?
            systemctl stop atriumd

            printf '[Service]\\nTimeoutStartSec=2\\nRestart=no\\nEnvironment=BREAKER_PAUSE=10000\\n' |
                drop_in atriumd.service
            began=$EPOCHREALTIME
            systemctl start --no-block atriumd
            loads() { unit StatusText | grep -qE '^loading: 0 of 1 container ready, [0-9]+ records? read$'; }
            wait_for loads
            tell far $?
            systemctl start atriumd
            tell slow $? $(((${EPOCHREALTIME/./} - ${began/./}) / 1000000)) $(unit StatusText)
            systemctl stop atriumd

            printf '[Service]\\nTimeoutStartSec=2\\nTimeoutStopSec=1\\nRestart=no\\nEnvironment=BREAKER_PAUSE=600000000\\n' |
                drop_in atriumd.service
            systemctl start atriumd
            tell hung $? $(unit Result)
            """, preparing: Machine.installBreaker)
        #expect(told["imported"] == "0")
        #expect(told["far"] == "0")
        let slow = try #require(told["slow"]?.split(separator: " "))
        #expect(slow.first == "0" && (Int(slow[1]) ?? 0) >= 3, "\(slow)")
        #expect(told["slow"]?.hasSuffix("1 container, 300 items, 12 plugins") == true)
        #expect(told["hung"] == "1 timeout")
    }

    @Test(.timeLimit(.minutes(2)))
    func
        `a deleted account, settings of comments and files of root's keep nobody from being served`()
        async throws
    {
        let told = try await Machine.play(
            """
            folder=/etc/atrium/containers.d
            cp /usr/local/share/atrium/examples/films.yaml $folder
            useradd gone
            printf '# who may\nmoderators: [gone, atrium-member]\n' >/etc/atrium/atrium.yaml
            systemctl start atriumd
            tell before $? $(unit StatusText)
            userdel gone
            systemctl restart atriumd
            tell deleted $? $(unit StatusText)
            tell warned $(logged -p warning)
            tell others $(as atrium-member atriumctl put films/x title=x >/dev/null; echo $?)
            echo '# nothing' >/etc/atrium/atrium.yaml
            systemctl restart atriumd
            tell comments $? $(unit StatusText)
            chmod 600 $folder/films.yaml
            systemctl reload atriumd 2>/dev/null
            tell file $? $(unit StatusText)
            tell check $(atriumd --check | grep films; echo $?)
            chmod 644 $folder/films.yaml; chmod 700 $folder
            systemctl reload atriumd 2>/dev/null
            tell folder $? $(unit StatusText)
            chmod 755 $folder
            systemctl reload atriumd
            tell mended $? $(unit StatusText)
            """)
        #expect(told["before"] == "0 serving 1 container, 0 items, 11 plugins")
        let problem = "/etc/atrium/atrium.yaml:2: moderators: there is no user 'gone'"
        #expect(told["deleted"]?.hasPrefix("0 serving 1 container") == true)
        #expect(told["deleted"]?.contains("1 problem: \(problem)") == true)
        #expect(told["warned"]?.contains("reason=\"\(problem)") == true, "\(told["warned"] ?? "")")
        #expect(told["others"] == "0")
        #expect(told["comments"] == "0 serving 1 container, 1 item, 11 plugins")
        let denied = "can't be read: Permission denied (read as the user 'atrium')"
        let films = "/etc/atrium/containers.d/films.yaml: \(denied)"
        #expect(told["file"]?.hasSuffix(" 1 problem: \(films)") == true, "\(told["file"] ?? "")")
        #expect(told["check"] == "definition: \(films) 0")
        let folder = "/etc/atrium/containers.d: \(denied)"
        #expect(told["folder"]?.hasSuffix(" 1 problem: \(folder)") == true)
        #expect(told["mended"] == "0 serving 1 container, 1 item, 11 plugins")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a start that fails says why, and is tried again only where that may help`() async throws {
        let told = try await Machine.play(
            """
            failed() {
                systemctl start atriumd 2>/dev/null
                tell $1 $? $(unit ExecMainStatus) $(unit StatusErrno) $(unit NRestarts) $(unit StatusText)
                systemctl reset-failed atriumd
            }
            echo 'logLevel: loud' >/etc/atrium/atrium.yaml
            failed setting
            echo 'frontends: [nobody-of-that-name]' >/etc/atrium/atrium.yaml
            failed role
            mkdir -m 777 /srv/elsewhere
            echo 'stateDirectory: /srv/elsewhere/state' >/etc/atrium/atrium.yaml
            failed elsewhere
            chmod 600 /etc/atrium/atrium.yaml
            failed unreadable
            tell check $(atriumd --check 2>&1; echo $?)
            rm /etc/atrium/atrium.yaml
            printf '[Service]\\nExecStart=\\nExecStart=/usr/local/bin/atriumd --loud\\n' | drop_in atriumd.service
            failed usage
            rm -r /etc/systemd/system/atriumd.service.d && systemctl daemon-reload
            echo 'no database, but longer than the header of one: that has a hundred bytes, and this more' \\
                >/var/lib/atrium/atrium.sqlite && chown atrium /var/lib/atrium/atrium.sqlite
            failed damaged
            rm /var/lib/atrium/atrium.sqlite
            logged -p err | sed 's/^/line: /'

            exec 9>/var/lib/atrium/atrium.lock && flock 9
            systemctl start atriumd 2>/dev/null
            tell locked $? $(unit ExecMainStatus) $(unit StatusErrno) $(unit StatusText)
            exec 9>&-
            wait_for systemctl is-active --quiet atriumd
            tell freed $? $(unit StatusErrno)
            """)
        let file = "/etc/atrium/atrium.yaml"
        #expect(told["setting"]?.hasPrefix("1 78 22 0 \(file):1: logLevel: 'loud'") == true)
        #expect(told["role"]?.hasPrefix("1 78 22 0 \(file):1: frontends: 'nobody-of-") == true)
        #expect(told["elsewhere"]?.hasPrefix("1 77 30 0 can't make the directory /srv/") == true)
        #expect(told["elsewhere"]?.contains("ReadWritePaths=/srv/elsewhere/state") == true)
        let denied = "\(file): can't be read: Permission denied (read as the user 'atrium')"
        #expect(told["unreadable"] == "1 77 13 0 \(denied)")
        let check = told["check"]
        #expect(check?.hasPrefix("checked as the user 'atrium', whom the service") == true)
        #expect(check?.hasSuffix("\(denied) 77") == true, "as the service would: \(check ?? "")")
        #expect(told["usage"]?.hasPrefix("1 64 22 0 Unknown option '--loud'") == true)
        #expect(told["damaged"]?.hasPrefix("1 65 117 0 /var/lib/atrium/atrium.sqlite is") == true)
        #expect(told["locked"]?.hasPrefix("1 75 16 /var/lib/atrium/atrium.lock is in use") == true)
        #expect(told["freed"] == "0 0")
        let lines = told.all("line")
        #expect(lines.count { $0.contains("loud'") } == 1, "each reason once: \(lines)")
        #expect(lines.contains { $0.contains("is damaged") }, "\(lines)")
    }
}
