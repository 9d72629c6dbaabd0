# SPDX-License-Identifier: Apache-2.0
"""The engines' schemas name the same tables and columns, because src/store/sql has one text for all of them. What one
engine alone has stands in ONLY, with the reason."""

import pathlib
import re
import sqlite3

import pytest

STORE = pathlib.Path(__file__).parents[2] / "src" / "store"
ENGINES = sorted(folder.name for folder in STORE.iterdir() if (folder / "schema").is_dir() and folder.name != "sqlite")
# (table, column; "*": all of it): where it is
ONLY = {
    ("peal_due", "home"): "servers: which of those that share the database plans the job",
    ("peal_epoch", "ended"): "servers: a file has one epoch, which its lock ends",
    ("peal_epoch", "heir"): "servers: of a life that another one has ended",
    ("peal_epoch", "began_ms"): "servers: a file's only server knows it",
    ("peal_epoch", "changes"): "servers: what the others are to look at again",
    ("peal_node", "*"): "servers: those that have used the database",
    ("peal_inbox", "*"): "servers: results that came to another one than the owner of the run",
    ("peal_change", "*"): "servers: edits of jobs that the others are to hear of",
    ("peal_run", "told"): "servers: which of these edits a run's owner knew",
    ("peal_migration", "oldest"): "servers: which releases may use the tables",
    ("peal_info", "*"): "servers: how the tables came there",
    ("sqlite_sequence", "*"): "sqlite: its own",
}


def of_sqlite():
    """{table: {column}} after all migrations."""
    db = sqlite3.connect(":memory:")
    for path in sorted((STORE / "sqlite" / "schema").glob("sqlite-*.sql")):
        db.executescript(path.read_text())
    tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {table: {row[1].lower() for row in db.execute(f"PRAGMA table_info({table})")} for table in tables}


def pieces(text):
    """What commas divide, outside of brackets and quotes."""
    depth, begun, quoted = 0, 0, False
    for i, c in enumerate(text):
        quoted ^= c == "'"
        depth += (c == "(") - (c == ")") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            yield text[begun:i]
            begun = i + 1
    yield text[begun:]


def of_server(engine):
    """The same out of the texts: CREATE TABLE, ALTER TABLE … ADD COLUMN, DROP TABLE."""
    found = {}
    for path in sorted((STORE / engine / "schema").glob(f"{engine}-*.sql")):
        text = re.sub(r"--[^\n]*", "", path.read_text())
        for statement in text.split(";"):
            statement = statement.strip()
            if asked := re.match(r"SET @\w+ = .*?'(ALTER TABLE [^']*)'", statement, re.S):  # only where it lacks them
                statement = asked[1]
            if made := re.match(r"CREATE TABLE (?:IF NOT EXISTS )?[`\"]?(\w+)[`\"]?\s*\(", statement):
                depth, end = 1, 0
                for end, c in enumerate(statement[made.end():]):  # the bracket that ends the columns
                    depth += (c == "(") - (c == ")")
                    if depth == 0:
                        break
                body = statement[made.end():made.end() + end]
                words = [re.match(r"\s*[`\"]?(\w+)", piece) for piece in pieces(body)]
                found[made[1]] = {word[1].lower() for word in words if word and word[1].upper() not in
                                  ("PRIMARY", "UNIQUE", "KEY", "INDEX", "CONSTRAINT", "CHECK", "FOREIGN", "FULLTEXT")}
            elif changed := re.match(r"ALTER TABLE [`\"]?(\w+)[`\"]?\s(.*)", statement, re.S):
                for column in re.findall(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?[`\"]?(\w+)[`\"]?", changed[2]):
                    if column.upper() not in ("CONSTRAINT", "KEY", "INDEX", "UNIQUE", "PRIMARY"):
                        found.setdefault(changed[1], set()).add(column.lower())
            elif gone := re.match(r"DROP TABLE (?:IF EXISTS )?[`\"]?(\w+)", statement):
                found.pop(gone[1], None)
    return found


def columns(schema):
    return {(table, column) for table, have in schema.items() for column in have}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_tables_and_columns(engine):
    ours, theirs = columns(of_sqlite()), columns(of_server(engine))
    odd = {(table, column) for table, column in ours ^ theirs if not {(table, column), (table, "*")} & set(ONLY)}
    assert not odd, "\n".join(f"{'sqlite' if it in ours else engine} alone has {it[0]}.{it[1]}" for it in sorted(odd))


def test_what_is_parsed_is_what_stands_there():
    """An engine whose text is read wrongly would pass with nothing."""
    for engine in ENGINES:
        found = of_server(engine)
        assert len(found) > 20 and {"epoch", "ended", "batch", "watermark_ms"} <= found["peal_epoch"], (engine, found)


# ---- what a migration may do while an older release goes on ------------------------------------

OLDEST = re.compile(r"^-- oldest: (.*)$", re.M)


def statements(text):
    """Of a migration, also those that MySQL runs only where they are not done yet."""
    for statement in re.sub(r"--[^\n]*", "", text).split(";\n"):
        statement = " ".join(statement.split())
        if asked := re.match(r"SET @\w+ = \(SELECT IF\(count\(\*\) = 0, '([^']*)', 'DO 0'\)", statement):
            yield asked[1]
        elif statement and not re.match(r"(PREPARE|EXECUTE|DEALLOCATE PREPARE) ", statement):
            yield statement


def narrowing(text):
    """The statements of a migration that a release which does not know it may not go on behind."""
    for statement in statements(text):
        added = re.match(r"ALTER TABLE \w+ (.*)", statement)
        if re.match(r"CREATE TABLE (IF NOT EXISTS )?\w+ \(", statement) or re.match(r"CREATE INDEX ", statement):
            continue
        if added and all(re.match(r"ADD COLUMN (IF NOT EXISTS )?\w+ ", part.strip()) and
                         ("NOT NULL" not in part or " DEFAULT " in part) for part in pieces(added[1])):
            continue
        yield statement


@pytest.mark.parametrize("engine", ENGINES)
def test_a_migration_widens_the_tables_or_says_which_releases_may_use_them(engine):
    release = (STORE / "release.c").read_text()
    ours = {name: int(re.search(rf"\.{name} = (\d+)", release)[1]) for name in ("protocol", "oldest")}
    assert 1 <= ours["oldest"] <= ours["protocol"]
    for path in sorted((STORE / engine / "schema").glob(f"{engine}-*.sql"))[1:]:  # the first one makes all of it
        text = path.read_text()
        if said := OLDEST.search(text):
            assert said[1].isdigit() and 1 < int(said[1]) <= ours["oldest"], (
                f"{path.name}: this release has to say that it does not run beside protocols below {said[1]} (store/release.c)")
        else:
            assert not [*narrowing(text)], f"{path.name}: older releases cannot go on; it wants a line -- oldest: N"


def test_the_first_migration_and_those_of_files_are_for_all_releases():
    for path in [*(STORE / "sqlite" / "schema").glob("*.sql"), *STORE.glob("*/schema/*-001.sql")]:
        assert not OLDEST.search(path.read_text()), path.name


@pytest.mark.parametrize("statement", [
    "DROP TABLE peal_run", "ALTER TABLE peal_run DROP COLUMN told", "ALTER TABLE peal_run RENAME COLUMN told TO t",
    "ALTER TABLE peal_run ADD COLUMN a int NOT NULL", "ALTER TABLE peal_run ADD COLUMN a int, DROP COLUMN told",
    "ALTER TABLE peal_run MODIFY told int", "ALTER TABLE peal_run ALTER COLUMN told TYPE smallint",
    "ALTER TABLE peal_run ADD CONSTRAINT c CHECK (told > 0)", "CREATE UNIQUE INDEX u ON peal_run (told)",
    "DROP INDEX i_due", "UPDATE peal_run SET told = 0", "RENAME TABLE peal_run TO peal_ran",
    "SET @a = (SELECT IF(count(*) = 0, 'ALTER TABLE peal_run DROP COLUMN told', 'DO 0') FROM x)"])
def test_what_narrows_tables_is_found(statement):
    good = "CREATE TABLE a (b int NOT NULL);\nALTER TABLE a ADD COLUMN c numeric(3, 1) NOT NULL DEFAULT 1, ADD COLUMN d int;\n"
    assert not [*narrowing(good)]
    assert len([*narrowing(f"{good}{statement};\n")]) == 1
