"""Create and change the database schema in numbered steps.

A step that was released is never edited. Each change of the schema is a new step at the end.
"""

import json
import secrets
from collections.abc import Callable

from labeler.store import chain
from labeler.store.database import Database


def version(db: Database) -> int:
    """Return the number of migrations that were applied to the file, which is the version of its schema."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: Database) -> None:
    """Migrate the file to the latest version.

    Each step is one transaction, which also stores the new version number.
    """
    while version(db) < len(MIGRATIONS):
        with db.atomic():
            step = version(db)  # read again under the lock, because another process may have migrated the file
            if step < len(MIGRATIONS):
                MIGRATIONS[step](db)
                db.execute(f"PRAGMA user_version = {step + 1}")


def m001_first_schema(db: Database) -> None:
    """Create the tables of a study: measurements, people, plan, labels, verdicts, events."""
    for statement in _FIRST_SCHEMA:
        db.execute(statement)


def m002_which_verdicts_are_shown(db: Database) -> None:
    """Record when a verdict was last requested, and its warm-up; add a view of the latest verdicts.

    Some files of version 1 already have some of these columns and views, or all of them.
    """
    there = {column for _, column, *_ in db.execute("PRAGMA table_info(verdicts)")}
    if "n_left_out" not in there:
        db.execute("ALTER TABLE verdicts ADD COLUMN n_left_out INTEGER NOT NULL DEFAULT 0")
    if "used_utc" not in there:
        db.execute("ALTER TABLE verdicts ADD COLUMN used_utc TEXT NOT NULL DEFAULT ''")
        db.execute("UPDATE verdicts SET used_utc = created_utc")
    db.execute("DROP VIEW IF EXISTS shown_verdicts")
    # the most recently requested verdict of each classifier for the current measurements
    db.execute(
        """CREATE VIEW shown_verdicts AS
            SELECT * FROM (
                SELECT i.name, i.benchmark, i.application, v.*, row_number() OVER (
                    PARTITION BY v.item_id, v.classifier ORDER BY v.used_utc DESC, v.verdict_id DESC) AS age
                FROM verdicts v JOIN items i USING (item_id) WHERE v.data_hash = i.data_hash)
            WHERE age = 1"""
    )


def m003_protocol_and_invitations(db: Database) -> None:
    """Add the protocol, the expiry of invitations, and sign-in by e-mail address."""
    for column in (
        "asks_confidence INTEGER NOT NULL DEFAULT 0 CHECK (asks_confidence IN (0, 1))",
        "shows_numbers INTEGER NOT NULL DEFAULT 0 CHECK (shows_numbers IN (0, 1))",
        "instructions TEXT NOT NULL DEFAULT ''",
    ):
        db.execute(f"ALTER TABLE studies ADD COLUMN {column}")
    db.execute(
        """CREATE TABLE invitations (
            secret_hash TEXT PRIMARY KEY,
            person_id INTEGER NOT NULL REFERENCES people,
            created_utc TEXT NOT NULL,
            expires_utc TEXT,
            replaced_utc TEXT,
            revoked_utc TEXT
        ) STRICT"""
    )
    # earlier invitations never expire
    db.execute(
        """INSERT INTO invitations (secret_hash, person_id, created_utc)
           SELECT secret_hash, person_id, created_utc FROM people WHERE secret_hash IS NOT NULL"""
    )
    db.execute("UPDATE people SET secret_hash = NULL")
    db.execute("ALTER TABLE people ADD COLUMN email TEXT COLLATE NOCASE")
    db.execute("CREATE UNIQUE INDEX people_by_email ON people (email)")


def m004_study_life(db: Database) -> None:
    """Add the state before a pause, the calibration gate, paused reviewers, ended assignments and excluded items.

    The gate is the agreement that the calibration round requires. The migration also adds decisions on split items,
    replies to comments, and reference labels.
    """
    db.execute("ALTER TABLE studies ADD COLUMN resumes_to TEXT")
    db.execute("ALTER TABLE studies ADD COLUMN gate TEXT")  # JSON; NULL: none
    db.execute("ALTER TABLE items ADD COLUMN excluded_why TEXT")  # NULL: the item counts
    db.execute("ALTER TABLE people ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))")
    db.execute("ALTER TABLE assignments ADD COLUMN ended_utc TEXT")  # NULL: active
    db.execute(
        """ALTER TABLE assignments ADD COLUMN origin TEXT NOT NULL DEFAULT 'plan'
           CHECK (origin IN ('plan', 'change', 'import'))"""
    )
    db.execute("UPDATE assignments SET origin = 'import' WHERE position IS NULL")
    db.execute(
        """CREATE TABLE decisions (
            decision_id INTEGER PRIMARY KEY AUTOINCREMENT,
            item_id INTEGER NOT NULL REFERENCES items,
            category TEXT NOT NULL CHECK (category IN ('similar', 'dissimilar')),
            why TEXT NOT NULL CHECK (why <> ''),
            decided_by TEXT NOT NULL,
            created_utc TEXT NOT NULL,
            event_id TEXT NOT NULL UNIQUE CHECK (event_id <> '')
        ) STRICT"""
    )
    for change, word in (("UPDATE", "changed"), ("DELETE", "removed")):
        db.execute(
            f"""CREATE TRIGGER decisions_are_never_{word} BEFORE {change} ON decisions
                BEGIN SELECT RAISE(ABORT, 'decisions are only appended'); END"""
        )
    db.execute(
        """CREATE TABLE replies (
            reply_id INTEGER PRIMARY KEY AUTOINCREMENT,
            assignment_id INTEGER NOT NULL REFERENCES assignments,
            text TEXT NOT NULL CHECK (text <> ''),
            written_by TEXT NOT NULL,
            created_utc TEXT NOT NULL
        ) STRICT"""
    )
    db.execute(
        """CREATE TABLE reference_labels (
            item_id INTEGER PRIMARY KEY REFERENCES items,
            category TEXT NOT NULL CHECK (category IN ('similar', 'dissimilar'))
        ) STRICT"""
    )


def m005_conditions_of_runs(db: Database) -> None:
    """Add the conditions of each run, and failed runs."""
    db.execute("ALTER TABLE runs ADD COLUMN conditions TEXT NOT NULL DEFAULT '{}'")  # JSON: name -> text
    db.execute("ALTER TABLE items ADD COLUMN failures TEXT NOT NULL DEFAULT '[]'")  # JSON: [{conditions, reason}]


def m006_answers_known_per_assignment(db: Database) -> None:
    """Make event ids unique per assignment instead of per study, and let pictures differ between assignments.

    Before, a refused answer revealed that another reviewer's answer had the same event id. Source keys of imported
    answers move to a separate table.
    """
    again = db.execute(
        "SELECT sql FROM sqlite_schema WHERE name = 'current_answers' OR type = 'trigger' AND tbl_name = 'labels'"
    )
    view_and_triggers = [sql for (sql,) in again.fetchall()]
    db.execute("DROP VIEW current_answers")
    db.execute(
        """CREATE TABLE new_labels (
            label_id INTEGER PRIMARY KEY AUTOINCREMENT,
            assignment_id INTEGER NOT NULL REFERENCES assignments,
            revision INTEGER NOT NULL CHECK (revision >= 0),
            event_id TEXT NOT NULL CHECK (event_id <> ''),
            answer TEXT NOT NULL CHECK (answer IN ('similar', 'dissimilar', 'not sure', 'withdrawn')),
            created_utc TEXT NOT NULL,
            dwell_ms INTEGER CHECK (dwell_ms >= 0),
            view TEXT NOT NULL DEFAULT '{}',
            confidence INTEGER CHECK (confidence BETWEEN 1 AND 3),
            flag INTEGER NOT NULL DEFAULT 0 CHECK (flag IN (0, 1)),
            comment TEXT,
            UNIQUE (assignment_id, revision),
            UNIQUE (assignment_id, event_id)
        ) STRICT"""
    )
    db.execute("INSERT INTO new_labels SELECT * FROM labels ORDER BY label_id")
    db.execute("DROP TABLE labels")
    db.execute("ALTER TABLE new_labels RENAME TO labels")
    for statement in view_and_triggers:
        db.execute(statement)
    db.execute(
        """CREATE TABLE imported_labels (
            source_key TEXT PRIMARY KEY CHECK (source_key <> ''),
            label_id INTEGER NOT NULL UNIQUE REFERENCES labels
        ) STRICT"""
    )
    # Existing studies keep one picture per item, unless they are drafts without labels.
    db.execute(
        "ALTER TABLE studies ADD COLUMN varies_pictures INTEGER NOT NULL DEFAULT 0 CHECK (varies_pictures IN (0, 1))"
    )
    db.execute("ALTER TABLE studies ADD COLUMN picture_secret TEXT NOT NULL DEFAULT ''")
    db.execute("UPDATE studies SET picture_secret = ?", (secrets.token_hex(32),))
    db.execute("UPDATE studies SET varies_pictures = 1 WHERE state = 'draft' AND NOT EXISTS (SELECT 1 FROM labels)")


def m007_hash_chain(db: Database) -> None:
    """Add the hash chain, and triggers that forbid replacing rows.

    In an older study, the chain begins with this migration.
    """
    db.execute(
        """CREATE TABLE links (
            link_id INTEGER PRIMARY KEY,
            part TEXT NOT NULL,
            row_id INTEGER NOT NULL,
            digest TEXT NOT NULL,
            head TEXT NOT NULL
        ) STRICT"""
    )
    chain.begin(db)
    # INSERT OR REPLACE removes a row, but does not run the triggers that forbid removals. A repeated event is ignored.
    db.execute(
        """CREATE TRIGGER labels_are_kept_once BEFORE INSERT ON labels
            WHEN EXISTS (SELECT 1 FROM labels WHERE event_id = NEW.event_id AND assignment_id = NEW.assignment_id)
            BEGIN SELECT RAISE(IGNORE); END"""
    )
    same_place = "assignment_id = NEW.assignment_id AND revision = NEW.revision AND event_id <> NEW.event_id"
    for table, key, same, why in (
        ("labels", "label_id", same_place, ", by labels.revision"), ("events", "event_id", "0", ""),
        ("decisions", "decision_id", "0", ""), ("links", "link_id", "0", ""),
    ):  # fmt: skip
        db.execute(
            f"""CREATE TRIGGER {table}_are_never_replaced BEFORE INSERT ON {table}
                WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key} OR ({same}))
                BEGIN SELECT RAISE(ABORT, '{table} are only appended{why}'); END"""  # noqa: S608 - constants
        )
    for change, word in (("UPDATE", "changed"), ("DELETE", "removed")):
        db.execute(
            f"""CREATE TRIGGER links_are_never_{word} BEFORE {change} ON links
                BEGIN SELECT RAISE(ABORT, 'links are only appended'); END"""
        )


def m008_axis_levels(db: Database) -> None:
    """Add the axis rule `levels`, the default for new studies; existing studies keep their rule."""
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'studies'").fetchone()
    rules = "('core', 'pooled', 'full')"
    db.execute("CREATE TEMP TABLE before AS SELECT * FROM studies")
    db.execute("DROP TABLE studies")
    db.execute(sql.replace(rules, "('levels', 'core', 'pooled', 'full')"))
    db.execute("INSERT INTO studies SELECT * FROM before")
    db.execute("DROP TABLE before")


def m009_secret_of_the_plan(db: Database) -> None:
    """Add the secret of the plan; existing studies have none, so that their plans can be computed again."""
    db.execute("ALTER TABLE studies ADD COLUMN plan_secret TEXT NOT NULL DEFAULT ''")


def m010_question(db: Database) -> None:
    """Add the question of the study; triggers check answers, decisions and reference labels against its categories.

    Studies of earlier versions ask whether runs are similar.
    """
    db.execute(
        """CREATE TABLE questions (
            question_id INTEGER PRIMARY KEY CHECK (question_id = 1),
            definition TEXT NOT NULL
        ) STRICT"""
    )
    db.execute(
        "CREATE TABLE categories (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CHECK (name <> '')) STRICT"
    )
    if db.execute("SELECT 1 FROM studies").fetchone():
        db.execute("INSERT INTO questions (question_id, definition) VALUES (1, ?)", (_FIRST_QUESTION,))
        db.execute("INSERT INTO categories (position, name) VALUES (0, 'similar'), (1, 'dissimilar')")
    db.execute("PRAGMA defer_foreign_keys = ON")  # imported_labels refers to labels, which are copied
    for table, column, more in (
        ("labels", "answer", ("not sure", "withdrawn")), ("decisions", "category", ()),
        ("reference_labels", "category", ()), ("verdicts", "verdict", ()),
    ):  # fmt: skip
        known = ", ".join(f"'{name}'" for name in ("similar", "dissimilar", *more))
        _remove_check(db, table, f" CHECK ({column} IN ({known}))")
        others = f" AND NEW.{column} NOT IN ({', '.join(map(repr, more))})" if more else ""
        db.execute(
            f"""CREATE TRIGGER {table}_answer_the_question BEFORE INSERT ON {table}
                WHEN NEW.{column} NOT IN (SELECT name FROM categories){others}
                BEGIN SELECT RAISE(ABORT, 'the question of the study has no such category'); END"""  # noqa: S608 - ours
        )


def m012_items_with_one_run(db: Database) -> None:
    """Allow items of one run, for questions about single runs."""
    db.execute("PRAGMA defer_foreign_keys = ON")  # all tables refer to items, which are copied
    _remove_check(db, "items", " CHECK (n_runs <> 1)")


def _remove_check(db: Database, table: str, check: str) -> None:
    """Create a table again without one CHECK, with the same rows, ids, triggers and indexes."""
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).fetchone()
    of_table = db.execute(
        "SELECT sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND tbl_name = ? AND sql IS NOT NULL",
        (table,),
    ).fetchall()
    db.execute(f"CREATE TEMP TABLE before AS SELECT * FROM {table} ORDER BY rowid")  # noqa: S608 - ours
    db.execute(f"DROP TABLE {table}")
    db.execute(sql.replace(check, ""))
    db.execute(f"INSERT INTO {table} SELECT * FROM before")  # noqa: S608 - ours
    db.execute("DROP TABLE before")
    for (statement,) in of_table:
        db.execute(statement)


def m011_marks(db: Database) -> None:
    """Let triggers accept a list of marks as an answer, if the question of the study is answered with points."""
    db.execute("ALTER TABLE questions ADD COLUMN takes_marks INTEGER NOT NULL DEFAULT 0 CHECK (takes_marks IN (0, 1))")
    for table, column in (
        ("labels", "answer"), ("decisions", "category"), ("reference_labels", "category"), ("verdicts", "verdict"),
    ):  # fmt: skip
        name = f"{table}_answer_the_question"
        (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
        db.execute(f"DROP TRIGGER {name}")
        head, body = sql.split("BEGIN SELECT", maxsplit=1)
        # a study that may come from somebody else must not use the JSON functions of SQLite in a trigger
        takes_it = f"(SELECT takes_marks FROM questions) AND NEW.{column} GLOB '[[]*[]]'"  # noqa: S608 - ours
        db.execute(f"{head.rstrip()} AND NOT ({takes_it}) BEGIN SELECT{body}")


def m013_segments(db: Database) -> None:
    """Add a place for the features of the segments of runs, which are computed from the measurements."""
    db.execute(
        """CREATE TABLE segments (
            item_id INTEGER PRIMARY KEY REFERENCES items,
            computed_from TEXT NOT NULL,
            features TEXT NOT NULL
        ) STRICT"""
    )


Migration = Callable[[Database], None]
MIGRATIONS: list[Migration] = [
    m001_first_schema,
    m002_which_verdicts_are_shown,
    m003_protocol_and_invitations,
    m004_study_life,
    m005_conditions_of_runs,
    m006_answers_known_per_assignment,
    m007_hash_chain,
    m008_axis_levels,
    m009_secret_of_the_plan,
    m010_question,
    m011_marks,
    m012_items_with_one_run,
    m013_segments,
]

# the question of all studies before version 10, without its text
_FIRST_QUESTION = json.dumps(
    {
        "shows": "runs",
        "answer": "category",
        "ordered": False,
        "positive": "dissimilar",
        "not_sure": True,
        "category": [
            {
                "name": "similar",
                "key": "s",
                "meaning": "Each run alone would lead to the same conclusion about the benchmark, because all runs "
                "have the same level, the same spread and the same pattern over time. Small random differences do not "
                "matter.",
                "short": "the runs are similar",
            },
            {
                "name": "dissimilar",
                "key": "d",
                "meaning": "At least one run would lead to a different conclusion, because it has a different level, a "
                "different spread, or a step or drift that the other runs do not have.",
                "short": "at least one run differs from the others",
            },
        ],
    }
)

_FIRST_SCHEMA = (
    """CREATE TABLE studies (
        study_id INTEGER PRIMARY KEY CHECK (study_id = 1),
        name TEXT NOT NULL CHECK (name <> ''),
        question TEXT NOT NULL CHECK (question <> ''),
        state TEXT NOT NULL CHECK (state IN ('draft', 'calibration', 'open', 'third', 'closed', 'unblinded', 'paused')),
        axis_rule TEXT NOT NULL CHECK (axis_rule IN ('core', 'pooled', 'full')),
        axis_min_span REAL NOT NULL CHECK (axis_min_span >= 0),
        plan_parameters TEXT,
        plan_hash TEXT,
        created_utc TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE files (
        file_id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL UNIQUE,
        imported_utc TEXT NOT NULL
    ) STRICT""",
    # n_runs = 0: an item of imported labels, without measurements
    """CREATE TABLE items (
        item_id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE CHECK (name <> ''),
        benchmark TEXT NOT NULL,
        application TEXT NOT NULL,
        parameters TEXT NOT NULL,
        unit TEXT NOT NULL,
        better TEXT NOT NULL CHECK (better IN ('lower', 'higher')),
        n_runs INTEGER NOT NULL CHECK (n_runs <> 1),
        n_iterations INTEGER NOT NULL,
        data_hash TEXT NOT NULL,
        file_id INTEGER REFERENCES files
    ) STRICT""",
    """CREATE TABLE runs (
        item_id INTEGER NOT NULL REFERENCES items,
        run INTEGER NOT NULL,
        measurements BLOB NOT NULL CHECK (length(measurements) > 0 AND length(measurements) % 8 = 0),
        PRIMARY KEY (item_id, run)
    ) STRICT""",
    """CREATE TABLE bins (
        item_id INTEGER PRIMARY KEY REFERENCES items,
        version INTEGER NOT NULL,
        payload BLOB NOT NULL
    ) STRICT""",
    """CREATE TABLE people (
        person_id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (name <> ''),
        is_reviewer INTEGER NOT NULL CHECK (is_reviewer IN (0, 1)),
        is_coordinator INTEGER NOT NULL CHECK (is_coordinator IN (0, 1)),
        active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
        secret_hash TEXT UNIQUE,
        created_utc TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE sessions (
        session_hash TEXT PRIMARY KEY,
        person_id INTEGER NOT NULL REFERENCES people,
        created_utc TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE assignments (
        assignment_id INTEGER PRIMARY KEY,
        person_id INTEGER NOT NULL REFERENCES people,
        item_id INTEGER NOT NULL REFERENCES items,
        kind TEXT NOT NULL CHECK (kind IN ('fresh', 'overlap', 'retest', 'third', 'calibration')),
        block INTEGER,
        position INTEGER,
        code TEXT NOT NULL UNIQUE,
        UNIQUE (person_id, item_id, kind)
    ) STRICT""",
    "CREATE INDEX assignments_in_order ON assignments (person_id, position)",
    """CREATE TABLE labels (
        label_id INTEGER PRIMARY KEY AUTOINCREMENT,
        assignment_id INTEGER NOT NULL REFERENCES assignments,
        revision INTEGER NOT NULL CHECK (revision >= 0),
        event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
        answer TEXT NOT NULL CHECK (answer IN ('similar', 'dissimilar', 'not sure', 'withdrawn')),
        created_utc TEXT NOT NULL,
        dwell_ms INTEGER CHECK (dwell_ms >= 0),
        view TEXT NOT NULL DEFAULT '{}',
        confidence INTEGER CHECK (confidence BETWEEN 1 AND 3),
        flag INTEGER NOT NULL DEFAULT 0 CHECK (flag IN (0, 1)),
        comment TEXT,
        UNIQUE (assignment_id, revision)
    ) STRICT""",
    """CREATE VIEW current_answers AS
        SELECT assignment_id, answer, label_id, max(revision) AS revision
        FROM labels GROUP BY assignment_id""",
    """CREATE TRIGGER labels_are_never_changed BEFORE UPDATE ON labels
        BEGIN SELECT RAISE(ABORT, 'labels are only appended'); END""",
    """CREATE TRIGGER labels_are_never_removed BEFORE DELETE ON labels
        BEGIN SELECT RAISE(ABORT, 'labels are only appended'); END""",
    """CREATE TABLE verdicts (
        verdict_id INTEGER PRIMARY KEY,
        item_id INTEGER NOT NULL REFERENCES items,
        classifier TEXT NOT NULL,
        parameters TEXT NOT NULL,
        data_hash TEXT NOT NULL,
        version INTEGER NOT NULL,
        verdict TEXT CHECK (verdict IN ('similar', 'dissimilar')),
        score REAL,
        threshold REAL,
        means TEXT NOT NULL,
        clusters TEXT NOT NULL,
        n_runs INTEGER NOT NULL,
        n_iterations INTEGER NOT NULL,
        pairs BLOB,
        linkage BLOB,
        error TEXT,
        created_utc TEXT NOT NULL,
        CHECK ((verdict IS NULL) = (error IS NOT NULL)),
        UNIQUE (item_id, classifier, parameters, data_hash, version)
    ) STRICT""",
    """CREATE TABLE events (
        event_id INTEGER PRIMARY KEY AUTOINCREMENT,
        at_utc TEXT NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        details TEXT NOT NULL
    ) STRICT""",
    """CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'events are only appended'); END""",
    """CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'events are only appended'); END""",
    """CREATE TABLE jobs (
        job_id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        pid INTEGER NOT NULL,
        n_done INTEGER NOT NULL,
        n_total INTEGER NOT NULL,
        started_utc TEXT NOT NULL,
        updated_utc TEXT NOT NULL,
        finished_utc TEXT,
        error TEXT
    ) STRICT""",
)
