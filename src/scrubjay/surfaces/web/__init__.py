"""A memory for a person: pages in a browser, on this machine's loopback, that read and never write.

Everything a page shows was written by an agent or came from an environment: it is text, and is never run or followed.
"""
