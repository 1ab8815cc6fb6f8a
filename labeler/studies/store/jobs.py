"""Store the progress of long jobs, so that a page can show the progress of another process."""

from dataclasses import dataclass

from labeler.studies.store.database import Database

VERDICTS = "verdicts"  # the kind of job that computes verdicts


@dataclass(frozen=True)
class Job:
    """A long job and its progress."""

    job_id: int
    pid: int
    n_done: int
    n_total: int
    started_utc: str
    updated_utc: str
    finished_utc: str | None
    error: str | None


def start(db: Database, kind: str, pid: int, n_total: int, at_utc: str) -> int:
    """Begin a job and return its id."""
    row = db.execute(
        """INSERT INTO jobs (kind, pid, n_done, n_total, started_utc, updated_utc) VALUES (?, ?, 0, ?, ?, ?)
           RETURNING job_id""",
        (kind, pid, n_total, at_utc, at_utc),
    ).fetchone()
    return int(row[0])


def advance(db: Database, job_id: int, n_done: int, at_utc: str) -> None:
    """Record how many items of a job are done."""
    db.execute("UPDATE jobs SET n_done = ?, updated_utc = ? WHERE job_id = ?", (n_done, at_utc, job_id))


def finish(db: Database, job_id: int, at_utc: str, error: str | None) -> None:
    """Record that a job has ended, with an error message or without."""
    db.execute(
        "UPDATE jobs SET finished_utc = ?, updated_utc = ?, error = ? WHERE job_id = ?",
        (at_utc, at_utc, error, job_id),
    )


def latest(db: Database, kind: str) -> Job | None:
    """Return the most recent job of this kind; return None if there is none."""
    rows = db.records(
        """SELECT job_id, pid, n_done, n_total, started_utc, updated_utc, finished_utc, error
           FROM jobs WHERE kind = ? ORDER BY job_id DESC LIMIT 1""",
        (kind,),
    )
    return Job(**rows[0]) if rows else None


def newest(db: Database) -> tuple[int, str] | None:
    """Return the id of the most recent job of any kind, and the time of its last change."""
    row = db.execute("SELECT job_id, updated_utc FROM jobs ORDER BY job_id DESC LIMIT 1").fetchone()
    return tuple(row) if row else None
