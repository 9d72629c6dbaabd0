# SPDX-License-Identifier: Apache-2.0
"""Names of columns: other engines than SQLite take them too, without quotes."""
import glob
import os
import sqlite3

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Reserved words of MySQL 8 and PostgreSQL 15 that a column might be called.
RESERVED = set("""
all analyse analyze and any array as asc before between both by call case cast change check collate column condition
constraint continue create cross cube current_date current_time current_timestamp current_user cursor database databases
default deferrable delayed delete desc describe distinct div do double drop dual each else empty end except exists exit
explain false fetch float for force foreign from fulltext function generated grant group grouping groups having if ignore
in index initially inner insert int integer intersect interval into is iterate join key keys kill lag last_value lateral
lead leading leave left like limit linear lines load localtime lock long loop match maxvalue mod modifies natural not
null numeric of offset on only optimize option or order out outer over partition placing precision primary procedure
purge range rank read reads real recursive references regexp release rename repeat replace require resignal restrict
return returning revoke right rlike row rows schema schemas select sensitive separator session_user set show signal some
spatial specific sql ssl starting stored symmetric system table terminated then to trailing trigger true undo union
unique unlock unsigned update usage use user using values variadic varying virtual when where while window with write
xor zerofill
""".split())


def test_no_column_is_called_by_a_reserved_word():
    db = sqlite3.connect(":memory:")
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "store", "sqlite", "schema", "sqlite-*.sql"))):
        with open(path, encoding="utf-8") as f:
            db.executescript(f.read())
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    columns = [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]
    assert len(columns) > 100
    assert [c for c in columns if c[1].lower() in RESERVED] == []
