"""How each peer is started."""
import os

from processes import HERE, LAB, Server, ask, free_port, new_directory, new_socket


def redis(sync=False, directory=None, ready=None):
    """sync: an append-only file, with an fsync before each reply. directory: where a snapshot may
    lie. ready: raises until it is; asked with the address."""
    path = new_socket("redis")
    command = ["redis-server", "--port", 0, "--unixsocket", path, "--save", "",
               "--dir", directory or new_directory("redis"), "--daemonize", "no",
               "--auto-aof-rewrite-percentage", 0, "--appendonly", "yes" if sync else "no",
               "--appendfsync", "always"]
    address = "unix:" + path
    ready = ready or (lambda address: ask(address, b"PING\r\n", b"+PONG"))
    return Server("redis", command, address, lambda: ready(address))


def mosquitto():
    path = new_socket("mosquitto")
    configuration = new_directory("mosquitto") / "mosquitto.conf"
    configuration.write_text(
        f"user root\nlistener 0 {path}\nallow_anonymous true\npersistence false\n"
        "log_type error\nmax_inflight_messages 0\nmax_queued_messages 0\n")
    hello = b"\x10\x11\x00\x04MQTT\x04\x02\x00\x00\x00\x05ready"
    address = "unix:" + path
    return Server("mosquitto", ["mosquitto", "-c", configuration], address,
                  lambda: ask(address, hello, b"\x20\x02\x00\x00"))


def nats():
    """Over loopback TCP: it has no listener on Unix sockets."""
    port = free_port()
    address = f"tcp:127.0.0.1:{port}"
    hello = b'CONNECT {"verbose":false}\r\nPING\r\n'
    return Server("nats", ["nats-server", "-a", "127.0.0.1", "-p", port], address,
                  lambda: ask(address, hello, b"PONG"))


def dbus_hello(address):
    user = str(os.getuid()).encode().hex().encode()
    return lambda: ask(address, b"\0AUTH EXTERNAL " + user + b"\r\n", b"OK ")


def dbus_daemon():
    path = new_socket("dbus-daemon")
    configuration = new_directory("dbus-daemon") / "bus.conf"
    configuration.write_text(
        '<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" '
        '"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">\n'
        f"<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>"
        '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>'
        '<allow own="*"/><allow user="*"/></policy></busconfig>')
    command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"]
    return Server("dbus-daemon", command, "unix:" + path, dbus_hello("unix:" + path))


def dbus_broker():
    path = new_socket("dbus-broker")
    return Server("dbus-broker", [LAB / "broker", path], "unix:" + path,
                  dbus_hello("unix:" + path))


def nginx():
    directory = new_directory("nginx")
    path = new_socket("nginx")
    (directory / "f256").write_text("x" * 256)
    configuration = directory / "nginx.conf"
    scratch = " ".join(f"{kind}_temp_path {directory}/{kind};" for kind in (
        "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration.write_text(
        f"user root; worker_processes 1; daemon off; pid {directory}/pid;\n"
        f"error_log {directory}/error.log; events {{ worker_connections 512; }}\n"
        f"http {{ access_log off; keepalive_requests 1000000000; {scratch}\n"
        f"open_file_cache max=10; server {{ listen unix:{path}; root {directory}; }} }}\n")
    address = "unix:" + path
    hello = b"GET /f256 HTTP/1.1\r\nHost: l\r\n\r\n"
    return Server("nginx", ["nginx", "-p", directory, "-c", configuration], address,
                  lambda: ask(address, hello, b"xxxx"))


def python_varlink():
    path = new_socket("varlink")
    address = "unix:" + path
    hello = b'{"method":"org.varlink.service.GetInfo"}\0'
    command = [LAB / "datasette" / "bin" / "python", "-B", HERE / "varlink_service.py", path]
    return Server("python-varlink", command, address, lambda: ask(address, hello, b"\0"))


def isso():
    """One connection a request: its server closes each."""
    directory = new_directory("isso")
    port = free_port()
    address = f"tcp:127.0.0.1:{port}"
    configuration = directory / "isso.cfg"
    configuration.write_text(
        f"[general]\ndbpath = {directory}/comments.db\nhost = http://127.0.0.1:1/\nnotify =\n"
        f"[server]\nlisten = http://127.0.0.1:{port}\n[guard]\nenabled = false\n")
    hello = b"GET /config HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n"
    server = Server("isso", [LAB / "isso" / "bin" / "isso", "-c", configuration, "run"], address,
                    lambda: ask(address, hello, b"200 OK"))
    server.database = directory / "comments.db"
    return server


def datasette(database):
    path = new_socket("datasette")
    address = "unix:" + path
    # Its facets and statements have time limits, 0.2 and 1 s, that a million rows exceed.
    command = [LAB / "datasette" / "bin" / "datasette", "serve", database, "--uds", path,
               "--setting", "facet_time_limit_ms", 20000, "--setting", "sql_time_limit_ms", 20000]
    hello = b"GET /-/versions.json HTTP/1.1\r\nHost: l\r\n\r\n"
    return Server("datasette", command, address, lambda: ask(address, hello, b"200 OK"))
