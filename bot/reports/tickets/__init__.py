"""The support ticket: drafted from what is known, as text, Markdown and mail, with the evidence."""
