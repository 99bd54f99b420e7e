"""A solver of KiCad tasks that follows rules: it sees the screen and the memory, and opens no file."""
