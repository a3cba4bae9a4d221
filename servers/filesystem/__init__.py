"""A disk, seen by one user at a shell: directories, files, links, permissions, archives."""
