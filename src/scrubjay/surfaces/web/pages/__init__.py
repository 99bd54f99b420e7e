"""The pages, one file each: what it shows, from the reader, into its template."""
