"""Read and write study files, which are SQLite databases; tables that belong together share a module.

Only this package contains SQL. The functions for tables never begin or commit a transaction: `events.by` does. Pages
and commands may import only `Database` and `open_database`.
"""

from labeler.store.database import Database
from labeler.store.opening import create_database, damage, discard, open_database, schema_differences

__all__ = ["Database", "create_database", "damage", "discard", "open_database", "schema_differences"]
