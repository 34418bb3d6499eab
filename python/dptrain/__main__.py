"""The console command, which runs the program in the wheel."""

import os
import subprocess
import sys

from ._program import program


def main():
    command = [program(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    raise SystemExit(subprocess.call(command))


if __name__ == "__main__":
    main()
