import Foundation
import Testing

/// What the service can't do, and that it works all the same.
@Suite(Machine.boots)
struct SandboxTests {
    @Test(.timeLimit(.minutes(3)))
    func `a plugin reaches nothing but what is the daemon's`() async throws {
        let told = try await Machine.play(
            Machine.den + """
                echo secret >/home/diary && chmod 644 /home/diary
                systemctl start atriumd
                for what in write configure home other-store network netlink process machine \\
                    signal disk cgroup shell loader own-program own-code set-user-id child; do
                    tell $what $(attempt $what)
                done
                """, preparing: Machine.layDownBreaker)
        #expect(told["write"] == "Read-only file system")
        #expect(told["configure"] == "Permission denied")
        #expect(told["home"] == "Permission denied")
        #expect(told["other-store"] == "Permission denied")
        for family in ["network", "netlink"] {
            #expect(told[family] == "Permission denied")
        }
        for hidden in ["process", "machine"] {
            #expect(told[hidden] == "No such file or directory")
        }
        for refused in ["signal", "own-code", "set-user-id"] {
            #expect(told[refused] == "Operation not permitted", "\(refused)")
        }
        for denied in ["cgroup", "disk"] {
            #expect(told[denied] == "Permission denied", "\(denied)")
        }
        #expect(told["own-program"] == "could not be written")
        for program in ["shell", "child"] {
            #expect(told[program] == "Permission denied", "\(program)")
        }
        #expect(told["loader"] == "status 127", "the loader starts, and loads nothing")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a plugin that the sandbox keeps from being loaded says how to open it`() async throws {
        let told = try await Machine.play(
            Machine.den + """
                mv /usr/local/lib/atrium-more /srv/plugins
                sed -i s,/usr/local/lib/atrium-more,/srv/plugins, /etc/atrium/atrium.yaml
                systemctl start atriumd
                tell closed $(logged | grep -o 'noexec.*ExecPaths=')
                printf '[Service]\\nExecPaths=/srv/plugins\\n' | drop_in atriumd.service
                systemctl restart atriumd
                tell open $(attempt process)
                """, preparing: Machine.layDownBreaker)
        #expect(told["closed"]?.hasPrefix("noexec") == true)
        #expect(told["open"] == "No such file or directory", "it tries, and is refused")
    }

    @Test(.timeLimit(.minutes(3)))
    func `where the kernel has no Landlock, workers work, and the status says what is missing`()
        async throws
    {
        let told = try await Machine.play(
            Machine.den + """
                printf '[Service]\\nSystemCallFilter=~landlock_create_ruleset\\n' | drop_in atriumd.service
                systemctl start atriumd
                tell signal $(attempt signal)
                tell status $(atriumctl status | grep -o 'the kernel has no Landlock')
                tell warned $(logged | grep -c 'the kernel has no Landlock')
                """, preparing: Machine.layDownBreaker)
        #expect(told["signal"] == "Operation not permitted", "seccomp does it alone")
        #expect(told["status"] == "the kernel has no Landlock")
        #expect(told["warned"] == "1")
    }

    @Test(.timeLimit(.minutes(3)))
    func `nothing that the daemon or a worker does is among the refused calls`() async throws {
        let told = try await Machine.play(
            """
            # Whoever tries ends at once.
            printf '[Service]\\nSystemCallErrorNumber=kill\\n' | drop_in atriumd.service
            examples=/usr/local/share/atrium/examples
            systemctl start atriumd && atriumctl status >/dev/null
            tell start $?
            sed 's/plugin: org.atrium.stars/&, isolation: process/' $examples/films.yaml >films.yaml
            atriumctl apply -f films.yaml >/dev/null
            atriumctl import films $examples/films.ndjson >/dev/null
            as atrium-member atriumctl vote films/the-godfather-1972 5 >/dev/null
            as atrium-member atriumctl comment films/the-godfather-1972 good >/dev/null
            tell found $(as atrium-member atriumctl list films --search godf --json | grep -c '"count":1')
            atriumctl reload >/dev/null && systemctl reload atriumd && systemctl restart atriumd
            tell kept $(as atrium-member atriumctl list films --search godf --json | grep -c '"count":1')
            systemctl stop atriumd
            tell stop $(systemctl show -p Result -p NRestarts --value atriumd)
            tell workers $(logged | grep -c 'worker ended')
            """)
        #expect(told["start"] == "0")
        #expect(told["found"] == "1")
        #expect(told["kept"] == "1")
        #expect(told["stop"] == "success 0" || told["stop"] == "0 success")
        #expect(told["workers"] == "0")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a source that is shut out names the drop-in that opens it, and that does`() async throws {
        let told = try await Machine.play(
            """
            mkdir -p /home/anna/Music /srv/web
            python3 - <<'WAVE'
            import wave
            with wave.open("/home/anna/Music/one.wav", "wb") as sound:
                sound.setnchannels(1), sound.setsampwidth(1), sound.setframerate(8000)
                sound.writeframes(bytes(8000))
            WAVE
            printf 'id,title\\na,Alien\\n' >/home/anna/books.csv
            echo '[{"id": "a", "title": "Alien"}]' >/srv/web/list.json
            chmod -R a+rX /home/anna /srv/web
            python3 -m http.server --bind 127.0.0.1 --directory /srv/web 8471 >/dev/null 2>&1 &
            define() {
                printf '%s\\n' 'atrium: 1' "container: $1" 'fields: { title: { type: text } }' 'components:' \
                    "  - { name: list, plugin: org.atrium.$2, settings: { $3 }$4 }" >$1.yaml
                atriumctl apply -f $1.yaml 2>&1
            }
            named() { grep -o 'share/atrium/drop-ins/[a-z]*.conf' | head -1; }
            is_named() { atriumctl describe $1 | grep -q share/atrium/drop-ins/; }
            has_item() { atriumctl list $1 --json 2>/dev/null | grep -q '"total":1'; }
            systemctl start atriumd
            define books file 'path: /home/anna/books.csv' >/dev/null
            define player music 'folder: /home/anna/Music' ', isolation: daemon' >/dev/null
            define mirrors remote 'url: "http://127.0.0.1:8471/list.json"' >/dev/null
            # A worker that may not read what its settings name is not made at all.
            tell shut-music $(define music music 'folder: /home/anna/Music' | named)
            for name in books player mirrors; do
                wait_for is_named $name
                tell shut-$name $(atriumctl describe $name | named)
            done
            mkdir -p /etc/systemd/system/atriumd.service.d
            cp /usr/local/share/atrium/drop-ins/{home,network}.conf /etc/systemd/system/atriumd.service.d/
            systemctl daemon-reload && systemctl restart atriumd
            define music music 'folder: /home/anna/Music' >/dev/null
            for name in books player mirrors music; do
                wait_for has_item $name
                tell open-$name $? $(atriumctl describe $name | named)
            done
            """)
        for (name, dropIn) in [
            ("books", "home"), ("player", "home"), ("music", "home"), ("mirrors", "network"),
        ] {
            #expect(told["shut-\(name)"] == "share/atrium/drop-ins/\(dropIn).conf", "\(name)")
            #expect(told["open-\(name)"] == "0", "\(name)")
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `each instance has its own user, store, socket and configuration, as little exposed`()
        async throws
    {
        let told = try await Machine.play(
            """
            mkdir -p /etc/atrium-films/containers.d
            cp /usr/local/share/atrium/examples/films.yaml /etc/atrium-films/containers.d/
            systemctl enable --quiet --now atriumd.socket atriumd@films.socket atriumd@books.socket
            member() { as atrium-member env ATRIUM_SOCKET=/run/atrium-$1/atrium.sock atriumctl "${@:2}"; }
            # It waits for the definitions of the start; status answers at once.
            member films containers >/dev/null
            tell films $(member films status --json | grep -o '"containers":[0-9]*')
            tell books $(member books status --json | grep -o '"containers":[0-9]*')
            tell main $(as atrium-member atriumctl status --json | grep -o '"containers":[0-9]*')
            systemctl start atriumd@films atriumd@books
            user() { ps -o uid= $(systemctl show -p MainPID --value $1); }
            tell users $(for unit in atriumd atriumd@films atriumd@books; do user $unit; done | sort -u | wc -l)
            tell modes $(stat -L -c %a /var/lib/atrium /var/lib/atrium-films /var/lib/atrium-books)
            systemctl reload atriumd@films && systemctl restart atriumd@films
            tell again $? $(member films status --json | grep -o '"containers":[0-9]*')
            for unit in atriumd atriumd@films; do
                systemd-analyze security --threshold=10 $unit >/dev/null
                tell exposure $?
            done
            systemctl stop atriumd@films.socket atriumd@films
            tell stop $(systemctl show -p Result --value atriumd@films) $(systemctl is-active atriumd@books)
            tell complaints $(journalctl --sync; journalctl -p warning -o cat -u 'atriumd@*')
            """)
        #expect(told["films"] == "\"containers\":1")
        #expect(told["books"] == "\"containers\":0")
        #expect(told["main"] == "\"containers\":0")
        #expect(told["users"] == "3")
        #expect(told["modes"] == "700 700 700")
        #expect(told["again"] == "0 \"containers\":1")
        #expect(told.all("exposure") == ["0", "0"])
        #expect(told["stop"] == "success active")
        #expect(told["complaints"] == "")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a person has a daemon without root, which keeps its data where one by hand does`()
        async throws
    {
        let told = try await Machine.play(
            """
            mkdir /home/atrium-stranger && chown atrium-stranger: /home/atrium-stranger
            user=$(id -u atrium-stranger)
            systemctl start user@$user
            own() {
                as atrium-stranger env XDG_RUNTIME_DIR=/run/user/$user HOME=/home/atrium-stranger "$@"
            }
            own systemctl --user start atriumd.socket
            tell before $(own systemctl --user is-active atriumd)
            own atriumctl apply -f /usr/local/share/atrium/examples/films.yaml >/dev/null
            tell applied $? $(own stat -c %a /run/user/$user/atrium/atrium.sock)
            own systemctl --user reload atriumd && own systemctl --user restart atriumd
            tell again $? $(own atriumctl status --json | grep -o '"containers":[0-9]*')
            tell cgroups $(ls -d /sys/fs/cgroup/user.slice/user-$user.slice/user@$user.service/app.slice/atriumd.service/*/ | wc -l)
            own systemctl --user stop atriumd.socket atriumd
            tell stop $(own systemctl --user show -p Result --value atriumd)
            tell store $(ls /home/atrium-stranger/.local/state)
            """)
        #expect(told["before"] == "inactive")
        #expect(told["applied"] == "0 600")
        #expect(told["again"] == "0 \"containers\":1")
        #expect(told["cgroups"] == "2", "one for itself, one for its workers")
        #expect(told["stop"] == "success")
        #expect(told["store"] == "atrium")
    }
}
