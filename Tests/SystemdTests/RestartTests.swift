import Testing

/// A restart, as clients notice it.
///
/// `Tests/Restart/clients.py` are publishers, subscribers and screens
/// that count. They never reconnect while their connection lasts.
@Suite(Machine.boots)
struct RestartTests {
    /// Boots a machine with clients under load: `ask` gives them a command, and `restarted` says what
    /// ended meanwhile.
    private static let begin = """
        printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nRestartSec=100ms\\n' | drop_in atriumd.service
        systemctl start atriumd.socket
        examples=/usr/local/share/atrium/examples
        atriumctl apply -f $examples/films.yaml >/dev/null
        atriumctl import films $examples/films.ndjson >/dev/null
        atriumctl watch 'films.app.>' --json >$tree/watched 2>$tree/watch-said &
        watch=$!
        cp \(Machine.root)Tests/Restart/clients.py $tree 2>/dev/null
        coproc python3 -u $tree/clients.py /run/atrium/atrium.sock 20 4
        read -r -t 60 -u ${COPROC[0]} line && tell clients $line
        restarted() {
            echo "mark ended" >&${COPROC[1]}
            read -r -t 60 -u ${COPROC[0]} name line && tell ended $line
        }
        finish() {
            echo finish >&${COPROC[1]}
            while read -r -t 60 -u ${COPROC[0]} name line; do tell $name $line; done
            kill $watch
            tell watched $(python3 - $tree/watched <<'EOF'
        import json, sys
        batches = [json.loads(line) for line in open(sys.argv[1])]
        told = [n["sequence"] for b in batches for n in b["notifications"] if n.get("sequence")]
        print(f"doubled={len(told) - len(set(told))} disordered={told != sorted(told)}",
              f"gaps={sum(bool(b.get('gap')) for b in batches)} told={len(told)}")
        EOF
        )
            tell said $(sort -u $tree/watch-said)
            tell stored $(systemctl show -p NFileDescriptorStore --value atriumd)
        }

        """

    @Test(.timeLimit(.minutes(4)))
    func `a restart drops no connection, and loses and doubles nothing`() async throws {
        let told = try await play(
            """
            for n in 1 2 3 4; do systemctl restart atriumd; restarted; done
            finish
            """)
        #expect(told["clients"] == "ready")
        #expect(
            told.all("ended") == Array(repeating: "Subscriber=0 Screen=0 Publisher=0", count: 4))
        #expect(told["counts"]?.hasPrefix(Self.nothingLost) == true, "\(told["counts"] ?? "")")
        #expect(told["gaps"] == "0 trimmed=0")
        #expect(
            told["screens"]?.hasPrefix("wrong=0 resets=0 ") == true, "\(told["screens"] ?? "")")
        #expect(told["problems"] == "[]")
        #expect(told["watched"]?.hasPrefix("doubled=0 disordered=False gaps=0 ") == true)
        #expect(told["said"] == "", "atriumctl watch has noticed nothing")
        #expect(told["stored"] == "1", "the screens' file alone is left in the store")
        #expect(told["complaints"] == "")
    }

    @Test(.timeLimit(.minutes(4)))
    func `after a crash everyone goes on by their cursors, and screens with what was chosen`()
        async throws
    {
        let told = try await play(
            """
            for n in 1 2 3; do systemctl kill -s KILL atriumd; restarted; done
            systemctl restart atriumd; restarted
            finish
            """)
        #expect(told.all("ended").last == "Subscriber=60 Screen=15 Publisher=12")
        #expect(
            told["counts"]?.hasPrefix("lost=0 doubled=0 disordered=0 ") == true,
            "\(told["counts"] ?? "")")
        #expect(told["counts"]?.hasSuffix("missing=0") == true, "what was acknowledged is there")
        #expect(
            told["screens"]?.hasPrefix("wrong=0 resets=15 ") == true, "\(told["screens"] ?? "")")
        #expect(told["screens"]?.contains("goes on with what was chosen") == true)
        #expect(told["problems"] == "[]")
        #expect(told["watched"]?.hasPrefix("doubled=0 disordered=False gaps=0 ") == true)
        #expect(
            told["said"]
                == "atriumctl: connected again atriumctl: lost the connection; trying again")
        #expect(told["stored"] == "1")
    }

    @Test(.timeLimit(.minutes(4)))
    func `connections beyond what systemd keeps go on by their cursors, and the log has them`()
        async throws
    {
        let told = try await play(
            """
            for n in 1 2; do systemctl restart atriumd; restarted; done
            finish
            id=3923e0c838ec4b9ab871e7670f2f089c
            tell incomplete $(logged MESSAGE_ID=$id)
            tell count $(logged -o json MESSAGE_ID=$id | grep -oE '"ATRIUM_COUNT":"[0-9]+"')
            """, limit: "FileDescriptorStoreMax=8\\nEnvironment=FDSTORE=8")
        try expectGoneOn(told)
        // One of the 8 is the screens' file, and two more are for what belongs to the connections.
        let ended = try #require(told.all("ended").first?.matches(of: /=(\d+)/))
        #expect(ended.compactMap { Int($0.1) }.reduce(0, +) >= 22, "\(told.all("ended"))")
        let incomplete = try #require(told["incomplete"])
        #expect(
            incomplete.contains(
                "connections, those that were used least recently, find no room in systemd's store "
                    + "for descriptors, which takes 8: set FileDescriptorStoreMax= and FDSTORE= to "
            ),
            "\(incomplete)")
        #expect(told["count"]?.matches(of: /:"2\d"/).count == 2, "\(told["count"] ?? "")")
    }

    @Test(.timeLimit(.minutes(4)))
    func `a limit that systemd has and the daemon does not know is noticed after the restart`()
        async throws
    {
        let told = try await play(
            """
            systemctl restart atriumd; restarted
            finish
            tell incomplete $(logged MESSAGE_ID=3923e0c838ec4b9ab871e7670f2f089c)
            """, limit: "FileDescriptorStoreMax=8")
        try expectGoneOn(told)
        let incomplete = try #require(told["incomplete"])
        #expect(
            incomplete.contains(
                "connections were not kept: systemd's store for descriptors is full. "
                    + "FileDescriptorStoreMax= is less than FDSTORE= says, which is 10240: set both "
                    + "to "), "\(incomplete)")
    }

    @Test(.timeLimit(.minutes(4)))
    func `screens of a front end by its group go on over a restart and a crash`() async throws {
        let told = try await Machine.play(
            """
            printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nRestartSec=100ms\\n' | drop_in atriumd.service
            groupadd atrium-web
            useradd --no-create-home --groups atrium-web atrium-front
            mkdir -p /etc/atrium && echo "frontends: ['@atrium-web=web']" >/etc/atrium/atrium.yaml
            systemctl start atriumd.socket
            examples=/usr/local/share/atrium/examples
            atriumctl apply -f $examples/films.yaml >/dev/null
            atriumctl import films $examples/films.ndjson >/dev/null
            front() {
                coproc setpriv "$@" /usr/bin/python3 -u \(Machine.root)Tests/Restart/frontend.py /run/atrium/atrium.sock
                front=$COPROC_PID
                read -r -t 60 -u ${COPROC[0]} line && tell front $line
            }
            go_on() {
                echo >&${COPROC[1]}
                read -r -t 60 -u ${COPROC[0]} line && tell "$1" $line
                echo >&${COPROC[1]}
                wait $front
            }
            # In the group by its account alone, then by its process alone.
            account="--reuid=atrium-front --regid=atrium --clear-groups"
            process="--reuid=atrium-stranger --regid=atrium --groups=atrium-web"
            front $account; systemctl restart atriumd; go_on account
            front $process; systemctl restart atriumd; go_on process
            front $account; systemctl kill -s KILL atriumd; go_on crash
            """, options: ["--bind", Machine.root + "Tests/Restart"])
        #expect(told.all("front") == ["open", "open", "open"])
        #expect(told["account"] == "followed True None")
        #expect(told["process"] == "followed True None")
        #expect(told["crash"]?.hasPrefix("resumed True True ") == true, "\(told["crash"] ?? "")")
        #expect(told["crash"]?.contains("goes on with what was chosen") == true)
    }

    /// Whether everyone has heard of everything once, whether or not their connection was kept.
    private func expectGoneOn(_ told: Machine.Told) throws {
        #expect(
            told["counts"]?.hasPrefix("lost=0 doubled=0 disordered=0 ") == true,
            "\(told["counts"] ?? "")")
        #expect(told["counts"]?.hasSuffix(" missing=0") == true, "\(told["counts"] ?? "")")
        #expect(
            told["screens"]?.hasPrefix("wrong=0 resets=0 ") == true, "\(told["screens"] ?? "")")
        #expect(told["problems"] == "[]")
        #expect(told["watched"]?.hasPrefix("doubled=0 disordered=False gaps=0 ") == true)
        #expect(told["stored"] == "1", "the screens' file alone is left in the store")
    }

    private static let nothingLost =
        "lost=0 doubled=0 disordered=0 transient-lost=0 transient-doubled=0 missing=0"

    private func play(_ story: String, limit: String = "") async throws -> Machine.Told {
        let limited = "printf '[Service]\\n\(limit)\\n' | drop_in atriumd.service limit\n"
        return try await Machine.play(
            (limit.isEmpty ? "" : limited) + Self.begin + story
                + "\ntell complaints $(logged -p warning)\n",
            within: 230, options: ["--bind", Machine.root + "Tests/Restart"])
    }
}
