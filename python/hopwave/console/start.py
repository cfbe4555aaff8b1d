"""python -m hopwave.console.start: Snakemake, which an interrupt ends without a traceback even
while it is being loaded."""

import sys


def main() -> None:
    try:
        from snakemake.cli import main as snakemake

        snakemake()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
