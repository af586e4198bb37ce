"""Where ranks sit: node lists, how ranks are laid out over them, and which VM a host is. Pure."""
