import pathlib
import sqlite3


class SqliteFile:
    """A database that another program may write at this moment. Each question is answered whole, so none holds a lock."""

    def __init__(self, path):
        with open(path, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                raise ValueError("it is no SQLite database")
        self.path = path
        self._database = self._open("mode=ro")
        try:
            self.tables = self._names()
        except sqlite3.OperationalError:
            # Its program has left a log that only a program with write permission can open.
            self._database = self._open("mode=ro&immutable=1")
            self.tables = self._names()

    def _open(self, mode):
        uri = pathlib.Path(self.path).resolve().as_uri()
        database = sqlite3.connect(f"{uri}?{mode}", uri=True, timeout=60)
        # A broken text must not end the import.
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        return database

    def _names(self):
        return {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def columns(self, table):
        return {row[1] for row in self.rows(f"PRAGMA table_info({table})")}

    def rows(self, sql, *values):
        return self._database.execute(sql, values).fetchall()

    def pages(self, sql, *values, size=5000):
        """Yield the rows of a question that ends with `rowid > ? ORDER BY rowid LIMIT ?` and asks for the rowid first."""
        last = -1
        while True:
            rows = self.rows(sql, *values, last, size)
            for row in rows:
                yield row[1:]
            if len(rows) < size:
                return
            last = rows[-1][0]
