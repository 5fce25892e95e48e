"""`python -m foretrace`: the command, without its entry point."""

from foretrace.cli import main

if __name__ == "__main__":
    main(prog_name="foretrace")
