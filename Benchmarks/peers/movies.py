"""A million films, the same ones every time, in SQLite with the indexes it would want."""
import itertools
import json
import random
import sqlite3
import unicodedata

from figures import say
from processes import LAB

PATH = LAB / "movies.db"
COUNT = 1_000_000
GENRES = ("Drama Comedy Action Thriller Romance Horror Documentary Crime Adventure Animation "
          "Family Fantasy Mystery Music History War Western Sport Biography Musical").split()
BEGINNINGS = "b br c ch d dr f g gl h j k kr l m n p pr r s st t tr v w z".split()
VOWELS = "a e i o u ai ea io ou".split()
ACCENTED = {"a": "áàâäåã", "e": "éèêë", "i": "íìîï", "o": "óòôöõ", "u": "úùûü", "c": "ç", "n": "ñ"}
WORDS = 3000


def fold(text):
    """Without case and accents."""
    plain = unicodedata.normalize("NFD", text)
    return "".join(c for c in plain if unicodedata.category(c) != "Mn").casefold()


def accent(word, chance):
    places = [place for place, letter in enumerate(word) if letter in ACCENTED]
    if not places:
        return word
    place = chance.choice(places)
    return word[:place] + chance.choice(ACCENTED[word[place]]) + word[place + 1:]


def make_words(chance):
    words, seen = [], set()
    while len(words) < WORDS:
        word = "".join(chance.choice(BEGINNINGS) + chance.choice(VOWELS)
                       for _ in range(chance.randint(2, 3)))
        word += chance.choice(["", "n", "r", "s", "l"])
        if word in seen:
            continue
        seen.add(word)
        if chance.random() < 0.25:
            word = accent(word, chance)
        words.append(word.capitalize())
    return words


def films(words, chance):
    """Rows; words and genres are the rarer the later they come."""
    folded = [fold(word) for word in words]
    often = list(itertools.accumulate(1.0 / (rank + 5) ** 0.9 for rank in range(WORDS)))
    genres = list(itertools.accumulate(1.0 / (rank + 2) for rank in range(len(GENRES))))
    for number in range(1, COUNT + 1):
        places = chance.choices(range(WORDS), cum_weights=often, k=chance.randint(2, 5))
        rating = min(100, max(0, int(chance.gauss(60, 15)))) / 10
        duration = min(14399, max(600, int(chance.gauss(6300, 1700))))
        genre = chance.choices(GENRES, cum_weights=genres)[0]
        year = 2024 - min(104, int(chance.expovariate(1 / 22)))
        yield (number, " ".join(words[place] for place in places),
               " ".join(folded[place] for place in places), genre, duration, rating, year)


def make():
    """Writes the database, unless it is there; half a minute."""
    if PATH.exists():
        return
    say("making a million films, once; about half a minute")
    chance = random.Random(20240611)
    words = make_words(chance)
    unfinished = PATH.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    database = sqlite3.connect(unfinished)
    database.executescript("""
        PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-400000;
        CREATE TABLE movies(id INTEGER PRIMARY KEY, title TEXT, fold TEXT, genre TEXT,
            duration INTEGER, rating REAL, year INTEGER);
        CREATE TABLE words(rank INTEGER PRIMARY KEY, fold TEXT);""")
    database.executemany("INSERT INTO movies VALUES(?,?,?,?,?,?,?)", films(words, chance))
    database.executemany("INSERT INTO words VALUES(?,?)", enumerate(map(fold, words)))
    database.executescript("""
        CREATE INDEX by_rating ON movies(rating DESC, genre, duration);
        CREATE INDEX by_genre ON movies(genre, rating, duration, year);
        CREATE INDEX by_fold ON movies(fold);
        CREATE VIRTUAL TABLE trigrams USING fts5(
            fold, content='movies', content_rowid='id', tokenize='trigram');
        INSERT INTO trigrams(trigrams) VALUES('rebuild');
        ANALYZE;""")
    database.commit()
    database.execute("PRAGMA journal_mode=WAL")
    database.close()
    unfinished.rename(PATH)


def open_database():
    database = sqlite3.connect(f"file:{PATH}?mode=ro", uri=True)
    database.execute("PRAGMA cache_size=-400000")
    database.execute("PRAGMA mmap_size=1000000000")
    return database


def rare_texts(database):
    """Parts of words that are rare: each is in some hundreds of titles."""
    words = database.execute("SELECT DISTINCT substr(fold, 2, 5) FROM words WHERE rank >= 2800 "
                             "AND length(fold) >= 6 ORDER BY rank DESC")
    return [word for word, in words]


def common_texts(database):
    """The beginnings of the most common words: each is in tens of thousands of titles."""
    words = database.execute("SELECT DISTINCT substr(fold, 1, 4) FROM words WHERE rank < 10")
    return [word for word, in words]


def items(database):
    """The films as items of ours."""
    rows = database.execute("SELECT id, title, genre, duration, rating, year FROM movies")
    for number, title, genre, duration, rating, year in rows:
        yield {"id": f"{number:07}", "fields": {"title": title, "genre": [genre], "year": year,
                                                "duration": duration, "rating": rating}}


if __name__ == "__main__":
    for item in items(open_database()):
        print(json.dumps(item, ensure_ascii=False))
