"""The packages of Debian, from apt's index, in SQLite with the indexes they would want."""
import json
import sqlite3
import subprocess

from figures import say
from movies import fold
from processes import LAB, ROOT

PATH = LAB / "debian.db"


def packages():
    """The items that Examples/debian-index prints."""
    command = [ROOT / "Examples" / "debian-index"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        raise SystemExit("BENCH=index wants Debian's package index: run `apt-get update` first")


def make():
    """Writes the database, unless it is there; some seconds."""
    if PATH.exists():
        return
    say("reading Debian's packages from apt's index, once")
    unfinished = PATH.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    database = sqlite3.connect(unfinished)
    database.executescript("""
        PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
        CREATE TABLE packages(id INTEGER PRIMARY KEY, name TEXT, summary TEXT, fold TEXT,
            section TEXT, size INTEGER);
        CREATE TABLE tags(tag TEXT, package INTEGER, PRIMARY KEY(tag, package)) WITHOUT ROWID;""")
    for number, item in enumerate(packages(), start=1):
        fields = item["fields"]
        name, summary = fields["name"], fields.get("summary", "")
        database.execute(
            "INSERT INTO packages VALUES(?,?,?,?,?,?)",
            (number, name, summary, fold(f"{name}\n{summary}"),
             fields.get("section", [""])[0], fields.get("size", 0)))
        database.executemany("INSERT OR IGNORE INTO tags VALUES(?,?)",
                             ((tag, number) for tag in fields.get("tags", [])))
    database.executescript("""
        CREATE INDEX by_section ON packages(section, size);
        CREATE INDEX by_size ON packages(size DESC, section);
        CREATE INDEX by_package ON tags(package, tag);
        CREATE VIRTUAL TABLE trigrams USING fts5(
            fold, content='packages', content_rowid='id', tokenize='trigram');
        INSERT INTO trigrams(trigrams) VALUES('rebuild');
        ANALYZE;""")
    database.commit()
    database.close()
    unfinished.rename(PATH)
