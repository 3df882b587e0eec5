import Testing

/// Sockets that are systemd's: passed by name, and there while the daemon is not.
@Suite(Machine.boots)
struct SocketTests {
    @Test(.timeLimit(.minutes(2)))
    func `every socket named varlink is served, and what has another name is closed`() async throws
    {
        let told = try await Machine.play(
            """
            more() {
                printf '%s\\n' [Socket] $2=/run/atrium/$1.sock FileDescriptorName=$3 \\
                    Service=atriumd.service >/etc/systemd/system/$1.socket
            }
            more second ListenStream varlink
            more other ListenStream other
            more datagrams ListenDatagram varlink
            systemctl daemon-reload
            systemctl start atriumd.socket second.socket other.socket datagrams.socket
            export ATRIUM_SOCKET=/run/atrium/second.sock
            tell second $(state)
            export ATRIUM_SOCKET=/run/atrium/atrium.sock
            tell first $(state)
            holds() {
                local inode=$(awk -v path=$1 '$8 == path { print $7; exit }' /proc/net/unix)
                [ "$inode" ] && find /proc/$(unit MainPID)/fd -lname "socket:\\[$inode\\]" | wc -l
            }
            tell holds $(for name in atrium second other datagrams; do holds /run/atrium/$name.sock; done)
            logged -p warning | sed 's/^/warned: /'
            """)
        #expect(told["second"] == #""state":"ready""#)
        #expect(told["first"] == #""state":"ready""#)
        #expect(told["holds"] == "1 1 0 0")
        let warned = told.all("warned")
        #expect(warned.count == 2, "\(warned)")
        #expect(warned.contains { $0.contains("name=other") }, "\(warned)")
        #expect(warned.contains { $0.contains("ListenStream=") }, "\(warned)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a socket that a drop-in adds is served beside the first, and the metrics' link stays`()
        async throws
    {
        let told = try await Machine.play(
            """
            printf '[Socket]\\nListenStream=/run/atrium/door.sock\\n' | drop_in atriumd.socket
            systemctl start atriumd.socket
            tell unit $? $(systemctl show -p LoadState -p ActiveState --value atriumd.socket)
            for socket in atrium door; do
                tell $socket $(state --socket /run/atrium/$socket.sock)
            done
            tell link $(readlink -f /run/systemd/report/org.atrium.Daemon)
            """)
        #expect(told["unit"] == "0 loaded active")
        #expect(told["atrium"] == #""state":"ready""#)
        #expect(told["door"] == #""state":"ready""#)
        #expect(told["link"] == "/run/atrium/atrium.sock")
    }

    @Test(.timeLimit(.minutes(2)))
    func `calls made while the daemon restarts are answered`() async throws {
        let told = try await Machine.play(
            """
            printf '[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=100ms\n' | drop_in atriumd.service
            systemctl start atriumd.socket
            touch /run/going
            (
                answered=0 lost=0
                while [ -e /run/going ]; do
                    if atriumctl status >/dev/null 2>>/run/complaints; then answered=$((answered + 1))
                    else lost=$((lost + 1)); fi
                done
                tell calls $answered $lost $(sort -u /run/complaints)
            ) &
            for i in 1 2 3 4 5 6 7 8; do systemctl restart atriumd || tell restart failed; done
            kill -KILL $(unit MainPID)
            restarted() { systemctl is-active --quiet atriumd; }
            wait_for restarted
            rm /run/going
            wait
            tell state $(unit ActiveState)
            """)
        let calls = try #require(told["calls"]?.split(separator: " ", maxSplits: 2))
        #expect(calls.count == 2 && calls[1] == "0", "\(calls)")
        #expect((Int(calls[0]) ?? 0) > 8, "\(calls)")
        #expect(told["restart"] == nil)
        #expect(told["state"] == "active")
    }
}
