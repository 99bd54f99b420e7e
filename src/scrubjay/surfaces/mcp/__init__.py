"""A memory over the Model Context Protocol, for agents that are written in anything and run anywhere.

`tools` says what is offered, `reading`, `writing` and `recording` carry it out, `resources` gives whole frames and
documents, `server` speaks the protocol, `http` guards it on a network. Needs `pip install 'scrubjay[mcp]'`.
"""
