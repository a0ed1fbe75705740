"""``python -m nearline.cli``: the command line where its script is not on the path."""

from nearline.cli import main

main()
