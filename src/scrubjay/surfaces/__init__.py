"""How people and programs reach a memory: the command line, MCP, a web view."""
