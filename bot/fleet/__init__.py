"""Where ranks sit: node lists and how ranks are laid out over them. Pure."""
