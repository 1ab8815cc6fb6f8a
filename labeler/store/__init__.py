"""The only package with SQL, with one module per table. Its functions never begin or commit a transaction.

Pages and commands may import only `Database` and `open_database`.
"""

from labeler.store.database import Database, create_database, discard, open_database

__all__ = ["Database", "create_database", "discard", "open_database"]
