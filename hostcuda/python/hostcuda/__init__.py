"""hostcuda as pip installs it: the tool and what it needs lie in this package, as in a prefix."""
import runpy
from pathlib import Path


def main():
    tool = Path(__file__).resolve().parent / "share" / "hostcuda" / "bin" / "hostcuda"
    runpy.run_path(str(tool), run_name="__main__")
