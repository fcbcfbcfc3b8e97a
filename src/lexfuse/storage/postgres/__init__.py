"""An index in PostgreSQL: its address, connections, tables, and the snapshot that reads them."""
