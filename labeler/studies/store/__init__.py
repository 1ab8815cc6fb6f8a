"""Read and write study files, which are SQLite databases; tables that belong together share a module.

Only this package contains SQL. The functions for tables never begin or commit a transaction: `events.by` does. Pages
and commands may import only `Database` and `open_database`.
"""

from labeler.studies.store.database import Database as Database
from labeler.studies.store.opening import (
    create_database as create_database,
    damage as damage,
    discard as discard,
    open_database as open_database,
    schema_differences as schema_differences,
)
