-- The tables of a study, in reading order: the study, people, items and runs, assignments and labels, verdicts, the
-- log, views. Comments stand before a statement, never inside it: SQLite keeps the text of a statement in the file, and
-- the first opening by a process compares that text with this file.
--
-- Times end in _utc and are ISO 8601 texts. Texts with a fixed structure are JSON.

-- ---------------------------------------------------------------------------------------------------------- the study

-- One row: the study, its protocol and its plan. `resumes_to` is the state before a pause. `gate` is the agreement that
-- the calibration round requires; NULL if it requires none. The secrets are random; `plan_secret` is empty in a copy
-- from which it was removed.
CREATE TABLE studies (
    study_id INTEGER PRIMARY KEY CHECK (study_id = 1),
    name TEXT NOT NULL CHECK (name <> ''),
    question TEXT NOT NULL CHECK (question <> ''),
    state TEXT NOT NULL CHECK (state IN ('draft', 'calibration', 'open', 'third', 'closed', 'unblinded', 'paused')),
    resumes_to TEXT,
    axis_rule TEXT NOT NULL CHECK (axis_rule IN ('levels', 'core', 'pooled', 'full')),
    axis_min_span REAL NOT NULL CHECK (axis_min_span >= 0),
    asks_confidence INTEGER NOT NULL CHECK (asks_confidence IN (0, 1)),
    shows_numbers INTEGER NOT NULL CHECK (shows_numbers IN (0, 1)),
    instructions TEXT NOT NULL,
    varies_pictures INTEGER NOT NULL CHECK (varies_pictures IN (0, 1)),
    gate TEXT,
    plan_parameters TEXT,
    plan_hash TEXT,
    picture_secret TEXT NOT NULL,
    plan_secret TEXT NOT NULL,
    created_utc TEXT NOT NULL
) STRICT;

-- One row: everything about the question except its text, and whether it is answered with points.
CREATE TABLE questions (
    question_id INTEGER PRIMARY KEY CHECK (question_id = 1),
    definition TEXT NOT NULL,
    takes_marks INTEGER NOT NULL CHECK (takes_marks IN (0, 1))
) STRICT;

-- The categories of the question. Triggers compare answers, decisions, reference labels and verdicts with them.
CREATE TABLE categories (
    position INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> '')
) STRICT;

-- ------------------------------------------------------------------------------------------------------------- people

-- Reviewers and coordinators. Someone who left is no longer active; a paused reviewer can return.
CREATE TABLE people (
    person_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (name <> ''),
    email TEXT COLLATE NOCASE,
    is_reviewer INTEGER NOT NULL CHECK (is_reviewer IN (0, 1)),
    is_coordinator INTEGER NOT NULL CHECK (is_coordinator IN (0, 1)),
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    created_utc TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX people_by_email ON people (email);

-- Sign-in links. Only the hash of the secret in a link is kept.
CREATE TABLE invitations (
    secret_hash TEXT PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES people,
    created_utc TEXT NOT NULL,
    expires_utc TEXT NOT NULL,
    replaced_utc TEXT,
    revoked_utc TEXT
) STRICT;

-- The browsers that are signed in. Only the hash of a session's token is kept.
CREATE TABLE sessions (
    session_hash TEXT PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES people,
    created_utc TEXT NOT NULL
) STRICT;

-- ----------------------------------------------------------------------------------------------------- items and runs

-- Imported files. The same content cannot be imported twice.
CREATE TABLE files (
    file_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    imported_utc TEXT NOT NULL
) STRICT;

-- What reviewers label. An item of imported labels has no measurements: n_runs is 0. `parameters` is name -> text,
-- `failures` a list of {conditions, reason}. An item with a text in `excluded_why` does not count. An attention check is
-- `made_from` another item and has a `known_answer`; nobody labels that other item, and no result uses either.
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    benchmark TEXT NOT NULL,
    application TEXT NOT NULL,
    parameters TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL CHECK (better IN ('lower', 'higher')),
    n_runs INTEGER NOT NULL,
    n_iterations INTEGER NOT NULL,
    failures TEXT NOT NULL,
    data_hash TEXT NOT NULL,
    file_id INTEGER REFERENCES files,
    excluded_why TEXT,
    made_from INTEGER REFERENCES items,
    known_answer TEXT,
    CHECK ((made_from IS NULL) = (known_answer IS NULL))
) STRICT;
-- Each request of a reviewer asks which items are excluded.
CREATE INDEX items_excluded ON items (item_id) WHERE excluded_why IS NOT NULL;

-- The measurements of each run as little-endian float64, and its conditions as name -> text.
CREATE TABLE runs (
    item_id INTEGER NOT NULL REFERENCES items,
    run INTEGER NOT NULL,
    measurements BLOB NOT NULL CHECK (length(measurements) > 0 AND length(measurements) % 8 = 0),
    conditions TEXT NOT NULL,
    PRIMARY KEY (item_id, run)
) STRICT;

-- The picture of an item as the browser gets it, computed from the measurements. `version` is that of the computation.
CREATE TABLE bins (
    item_id INTEGER PRIMARY KEY REFERENCES items,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL
) STRICT;

-- The features of the segments of an item's runs, computed from the measurements.
CREATE TABLE segments (
    item_id INTEGER PRIMARY KEY REFERENCES items,
    computed_from TEXT NOT NULL,
    features TEXT NOT NULL
) STRICT;

-- --------------------------------------------------------------------------------------------- assignments and labels

-- Who labels what. Reviewers see an item only under the code of their assignment. `block` and `position` are NULL for
-- imported labels; `ended_utc` is NULL while the assignment is active.
CREATE TABLE assignments (
    assignment_id INTEGER PRIMARY KEY,
    person_id INTEGER NOT NULL REFERENCES people,
    item_id INTEGER NOT NULL REFERENCES items,
    kind TEXT NOT NULL CHECK (kind IN ('fresh', 'overlap', 'retest', 'third', 'calibration', 'attention')),
    block INTEGER,
    position INTEGER,
    code TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('plan', 'change', 'import')),
    ended_utc TEXT,
    UNIQUE (person_id, item_id, kind)
) STRICT;
CREATE INDEX assignments_in_order ON assignments (person_id, position);

-- Answers, which are only appended: the answer of an assignment with the largest revision is current. The same event id
-- a second time, as after a resend, is ignored. `view` is what the browser says of the screen, and how the picture was
-- drawn. `extra` is the second answer of a question that has one. `swapped` says whether the picture had its sides in the
-- other order; NULL if a picture has no sides. `session` is the id of the session in which the answer was given.
CREATE TABLE labels (
    label_id INTEGER PRIMARY KEY AUTOINCREMENT,
    assignment_id INTEGER NOT NULL REFERENCES assignments,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    event_id TEXT NOT NULL CHECK (event_id <> ''),
    answer TEXT NOT NULL,
    created_utc TEXT NOT NULL,
    dwell_ms INTEGER CHECK (dwell_ms >= 0),
    view TEXT NOT NULL,
    confidence INTEGER CHECK (confidence BETWEEN 1 AND 3),
    flag INTEGER NOT NULL CHECK (flag IN (0, 1)),
    comment TEXT,
    extra TEXT,
    swapped INTEGER CHECK (swapped IN (0, 1)),
    session TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('screen', 'import')),
    UNIQUE (assignment_id, revision),
    UNIQUE (assignment_id, event_id)
) STRICT;
CREATE TRIGGER labels_are_never_changed BEFORE UPDATE ON labels
    BEGIN SELECT RAISE(ABORT, 'labels are only appended'); END;
CREATE TRIGGER labels_are_never_removed BEFORE DELETE ON labels
    BEGIN SELECT RAISE(ABORT, 'labels are only appended'); END;
CREATE TRIGGER labels_are_kept_once BEFORE INSERT ON labels
    WHEN EXISTS (SELECT 1 FROM labels WHERE event_id = NEW.event_id AND assignment_id = NEW.assignment_id)
    BEGIN SELECT RAISE(IGNORE); END;
-- INSERT OR REPLACE removes a row, but does not run the triggers that forbid removals.
CREATE TRIGGER labels_are_never_replaced BEFORE INSERT ON labels
    WHEN EXISTS (SELECT 1 FROM labels WHERE label_id = NEW.label_id
                 OR (assignment_id = NEW.assignment_id AND revision = NEW.revision AND event_id <> NEW.event_id))
    BEGIN SELECT RAISE(ABORT, 'labels are only appended, by labels.revision'); END;
-- Marks are a list such as [12]. The trigger compares characters, because a study that comes from somebody else must
-- not use the JSON functions of SQLite in a trigger.
CREATE TRIGGER labels_answer_the_question BEFORE INSERT ON labels
    WHEN NEW.answer NOT IN (SELECT name FROM categories) AND NEW.answer NOT IN ('not sure', 'withdrawn')
        AND NOT ((SELECT takes_marks FROM questions) AND NEW.answer GLOB '[[]*[]]')
    BEGIN SELECT RAISE(ABORT, 'the question of the study has no such category'); END;

-- The rows of imported label files, so that a second import of a file adds nothing.
CREATE TABLE imported_labels (
    source_key TEXT PRIMARY KEY CHECK (source_key <> ''),
    label_id INTEGER NOT NULL UNIQUE REFERENCES labels
) STRICT;

-- The coordinators' replies to flags and comments.
CREATE TABLE replies (
    reply_id INTEGER PRIMARY KEY AUTOINCREMENT,
    assignment_id INTEGER NOT NULL REFERENCES assignments,
    text TEXT NOT NULL CHECK (text <> ''),
    written_by TEXT NOT NULL,
    created_utc TEXT NOT NULL
) STRICT;

-- The categories that coordinators expect of calibration items.
CREATE TABLE reference_labels (
    item_id INTEGER PRIMARY KEY REFERENCES items,
    category TEXT NOT NULL
) STRICT;
CREATE TRIGGER reference_labels_answer_the_question BEFORE INSERT ON reference_labels
    WHEN NEW.category NOT IN (SELECT name FROM categories)
        AND NOT ((SELECT takes_marks FROM questions) AND NEW.category GLOB '[[]*[]]')
    BEGIN SELECT RAISE(ABORT, 'the question of the study has no such category'); END;

-- Decisions on split items, which are only appended: the last decision on an item counts.
CREATE TABLE decisions (
    decision_id INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id INTEGER NOT NULL REFERENCES items,
    category TEXT NOT NULL,
    why TEXT NOT NULL CHECK (why <> ''),
    decided_by TEXT NOT NULL,
    created_utc TEXT NOT NULL,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> '')
) STRICT;
CREATE TRIGGER decisions_are_never_changed BEFORE UPDATE ON decisions
    BEGIN SELECT RAISE(ABORT, 'decisions are only appended'); END;
CREATE TRIGGER decisions_are_never_removed BEFORE DELETE ON decisions
    BEGIN SELECT RAISE(ABORT, 'decisions are only appended'); END;
CREATE TRIGGER decisions_are_never_replaced BEFORE INSERT ON decisions
    WHEN EXISTS (SELECT 1 FROM decisions WHERE decision_id = NEW.decision_id)
    BEGIN SELECT RAISE(ABORT, 'decisions are only appended'); END;
CREATE TRIGGER decisions_answer_the_question BEFORE INSERT ON decisions
    WHEN NEW.category NOT IN (SELECT name FROM categories)
        AND NOT ((SELECT takes_marks FROM questions) AND NEW.category GLOB '[[]*[]]')
    BEGIN SELECT RAISE(ABORT, 'the question of the study has no such category'); END;

-- ----------------------------------------------------------------------------------------------------------- verdicts

-- What classifiers say of items, with the evidence. A verdict belongs to measurements (`data_hash`), parameters, and a
-- version of the classifier; where there is no verdict, `error` says why. `used_utc` is when it was last asked for.
CREATE TABLE verdicts (
    verdict_id INTEGER PRIMARY KEY,
    item_id INTEGER NOT NULL REFERENCES items,
    classifier TEXT NOT NULL,
    parameters TEXT NOT NULL,
    data_hash TEXT NOT NULL,
    version INTEGER NOT NULL,
    verdict TEXT,
    score REAL,
    threshold REAL,
    means TEXT NOT NULL,
    clusters TEXT NOT NULL,
    n_runs INTEGER NOT NULL,
    n_iterations INTEGER NOT NULL,
    n_left_out INTEGER NOT NULL,
    pairs BLOB,
    linkage BLOB,
    error TEXT,
    created_utc TEXT NOT NULL,
    used_utc TEXT NOT NULL,
    CHECK ((verdict IS NULL) = (error IS NOT NULL)),
    UNIQUE (item_id, classifier, parameters, data_hash, version)
) STRICT;
CREATE TRIGGER verdicts_answer_the_question BEFORE INSERT ON verdicts
    WHEN NEW.verdict NOT IN (SELECT name FROM categories)
        AND NOT ((SELECT takes_marks FROM questions) AND NEW.verdict GLOB '[[]*[]]')
    BEGIN SELECT RAISE(ABORT, 'the question of the study has no such category'); END;

-- The progress of long computations, so that a page can show it.
CREATE TABLE jobs (
    job_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    pid INTEGER NOT NULL,
    n_done INTEGER NOT NULL,
    n_total INTEGER NOT NULL,
    started_utc TEXT NOT NULL,
    updated_utc TEXT NOT NULL,
    finished_utc TEXT,
    error TEXT
) STRICT;

-- ------------------------------------------------------------------------------------------------------------ the log

-- Who did what and when; only appended.
CREATE TABLE events (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_utc TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    details TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only appended'); END;
CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only appended'); END;
CREATE TRIGGER events_are_never_replaced BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE event_id = NEW.event_id)
    BEGIN SELECT RAISE(ABORT, 'events are only appended'); END;

-- The hash chain over measurements, pictures, answers, decisions, replies and events; only appended.
CREATE TABLE links (
    link_id INTEGER PRIMARY KEY,
    part TEXT NOT NULL,
    row_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    head TEXT NOT NULL
) STRICT;
CREATE TRIGGER links_are_never_changed BEFORE UPDATE ON links
    BEGIN SELECT RAISE(ABORT, 'links are only appended'); END;
CREATE TRIGGER links_are_never_removed BEFORE DELETE ON links
    BEGIN SELECT RAISE(ABORT, 'links are only appended'); END;
CREATE TRIGGER links_are_never_replaced BEFORE INSERT ON links
    WHEN EXISTS (SELECT 1 FROM links WHERE link_id = NEW.link_id)
    BEGIN SELECT RAISE(ABORT, 'links are only appended'); END;

-- -------------------------------------------------------------------------------------------------------------- views

-- The current answer of each assignment that has one.
CREATE VIEW current_answers AS
    SELECT assignment_id, answer, label_id, max(revision) AS revision
    FROM labels GROUP BY assignment_id;

-- The most recently requested verdict of each classifier on the present measurements of each item.
CREATE VIEW shown_verdicts AS
    SELECT * FROM (
        SELECT i.name, i.benchmark, i.application, v.*, row_number() OVER (
            PARTITION BY v.item_id, v.classifier ORDER BY v.used_utc DESC, v.verdict_id DESC) AS age
        FROM verdicts v JOIN items i USING (item_id) WHERE v.data_hash = i.data_hash)
    WHERE age = 1;
