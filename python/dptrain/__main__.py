"""The console command: it becomes the program that the wheel carries."""

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
