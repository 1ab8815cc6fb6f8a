"""The only place with SQL. One module of functions a table; they never begin or commit a transaction.

`Database` and `open_database` are what the shells may use of it.
"""

from labeler.store.database import Database, create_database, discard, open_database

__all__ = ["Database", "create_database", "discard", "open_database"]
