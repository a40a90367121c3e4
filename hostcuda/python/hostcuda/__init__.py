"""The package that pip installs. Its folders (lib, share) are those of an installation prefix."""
import runpy
from pathlib import Path


def main():
    tool = Path(__file__).resolve().parent / "share" / "hostcuda" / "bin" / "hostcuda"
    runpy.run_path(str(tool), run_name="__main__")
