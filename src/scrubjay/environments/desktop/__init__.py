"""An X display as an environment: screenshots in, mouse and keyboard out. Any program runs in it."""
