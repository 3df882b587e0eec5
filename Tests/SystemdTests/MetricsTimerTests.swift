import Testing

/// The file that `atrium-metrics.timer` keeps for node_exporter.
@Suite(Machine.boots)
struct MetricsTimerTests {
    @Test(.timeLimit(.minutes(2)))
    func `the timer keeps node_exporter's file while the daemon runs, from within its sandbox`()
        async throws
    {
        let told = try await Machine.play(
            """
            folder=/var/lib/prometheus/node-exporter
            systemctl start atriumd.socket atriumd
            tell enabled $(systemctl is-enabled atrium-metrics.timer)
            systemctl start atrium-metrics.service
            tell no-collector $? $(systemctl show -p ConditionResult --value atrium-metrics)

            mkdir -p $folder && echo old >$folder/atrium.prom
            systemctl enable --quiet --now atrium-metrics.timer
            wait_for grep -q atrium_build_info $folder/atrium.prom
            tell written $? $(stat -c '%a %U' $folder/atrium.prom) $(ls -A $folder | wc -l)
            tell report $(readlink -f /run/systemd/report/org.atrium.Daemon)

            systemctl stop atriumd.socket atriumd
            tell with-the-daemon $(systemctl is-active atrium-metrics.timer atriumd)
            systemctl start atrium-metrics.service 2>/dev/null
            tell no-daemon $? $(systemctl is-active atriumd)

            # A daemon that makes its socket by itself: that is not root's.
            systemctl mask --quiet --runtime atriumd.socket
            rm $folder/atrium.prom
            systemctl start atriumd
            tell socket $(stat -c '%U' /run/atrium/atrium.sock) $(systemctl is-active atrium-metrics.timer)
            wait_for grep -q atrium_build_info $folder/atrium.prom
            tell again $?
            tell complaints $(journalctl -u atrium-metrics -p warning -o cat | grep -v ^Dependency)
            """)
        #expect(told["enabled"] == "disabled")
        #expect(told["no-collector"] == "0 no", "nothing to do is no failure")
        #expect(told["written"] == "0 644 root 1")
        #expect(told["report"] == "/run/atrium/atrium.sock", "systemd's own reports find it")
        #expect(told["with-the-daemon"] == "inactive inactive")
        #expect(told["no-daemon"] == "1 inactive", "a look does not start it")
        #expect(told["socket"] == "atrium active")
        #expect(told["again"] == "0")
        #expect(told["complaints"] == "")
    }
}
