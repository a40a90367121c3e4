"""Prints the completion script of ./nbody for a shell, or the manual page of ./nbody.

  source <(./nbody completion bash)                     # bash; in ~/.bashrc, with the clone's path
  ./nbody completion zsh > ~/.zfunc/_nbody              # zsh; ~/.zfunc must be in $fpath
  ./nbody completion fish > ~/.config/fish/completions/nbody.fish
  ./nbody completion man > nbody.1

The commands come from one table (table.py). Each time the shell completes an option of a command or
of a step's program, the script calls that command or program with --help to read its options.
`cmake --install` installs all four files where the shells and man find them.
"""

from __future__ import annotations

import argparse
from string import Template

from nbody_tools.arguments import ROOT
from nbody_tools.command_line.manual import manual
from nbody_tools.command_line.table import COMMANDS
from nbody_tools.steps import number_of, step_folders

BASH = Template(r"""# Completion of nbody for bash, written by ./nbody completion bash.
_nbody_options() {
  "$$@" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]+' | sort -u
}

_nbody() {
  local word=$${COMP_WORDS[COMP_CWORD]} words=
  if [ "$$COMP_CWORD" -eq 1 ]; then
    words='$commands'
  elif [[ $$word == -* ]]; then
    words=$$(_nbody_options "$${COMP_WORDS[@]:0:2}")
  else
    case $${COMP_WORDS[1]} in
$cases
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$$words" -- "$$word")
}
complete -o default -F _nbody nbody

_nbody_program() {
  local word=$${COMP_WORDS[COMP_CWORD]}
  [[ $$word == -* ]] || return 0
  mapfile -t COMPREPLY < <(compgen -W "$$(_nbody_options "$${COMP_WORDS[0]}")" -- "$$word")
}
complete -o default -F _nbody_program $programs
""")

ZSH = Template(r"""#compdef nbody $programs
# Completion of nbody for zsh, written by ./nbody completion zsh.
_nbody_options() {
  local -a options
  options=($${(f)"$$("$$@" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]+' | sort -u)"})
  compadd -a options
}

_nbody() {
  local program=$${~words[1]}
  if [[ $$service != nbody ]]; then
    if [[ $$PREFIX == -* ]]; then _nbody_options $$program; else _files; fi
    return
  fi
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
$described
    )
    _describe command commands
  elif [[ $$PREFIX == -* ]]; then
    _nbody_options $$program $$words[2]
  else
    local -a others
    case $$words[2] in
$cases
    esac
    (( $$#others )) && compadd -a others
    _files
  fi
}
if [[ $$funcstack[1] == _nbody ]]; then _nbody "$$@"; else compdef _nbody nbody $programs; fi
""")

FISH = Template(r"""# Completion of nbody for fish, written by ./nbody completion fish.
function __nbody_options
    $$argv --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]+' | sort -u
end
function __nbody_words
    set -l words (commandline -opc)
    __nbody_options $$words[1..2]
end
function __nbody_program_words
    set -l words (commandline -opc)
    __nbody_options $$words[1]
end
$described
function __nbody_at_option
    string match -q -- "-*" (commandline -ct)
end
complete -c nbody -n 'not __fish_use_subcommand; and __nbody_at_option' -a '(__nbody_words)'
$others
for program in $programs
    complete -c $$program -n __nbody_at_option -a '(__nbody_program_words)'
end
""")


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument("shell", choices=("bash", "zsh", "fish", "man"),
                   help="the shell that will run the script, or man for the manual page")


def run(options: argparse.Namespace) -> int:
    writers = {"bash": for_bash, "zsh": for_zsh, "fish": for_fish, "man": manual}
    print(writers[options.shell](), end="")
    return 0


def other_words() -> dict[str, str]:
    """Maps each command to its arguments that are neither options nor files."""
    steps = [number_of(name) for name in step_folders(ROOT)]
    labs = [
        folder.name.partition("_")[0]
        for folder in sorted((ROOT / "course" / "labs").glob("[0-9]*/"))
    ]
    experiments = [page.parent.name for page in sorted((ROOT / "experiments").glob("*/README.md"))]
    sets = {"steps": " ".join(steps), "labs": " ".join(["list", *labs]),
            "experiments": " ".join(["list", *experiments])}
    words = {one.name: sets.get(one.completes, one.completes) for one in COMMANDS if one.completes}
    return {**words, "help": " ".join(one.name for one in COMMANDS)}


def programs() -> str:
    return " ".join(step_folders(ROOT))


def for_bash() -> str:
    cases = "\n".join(f"      {name}) words='{words}' ;;" for name, words in other_words().items())
    return BASH.substitute(
        commands=" ".join(one.name for one in COMMANDS), cases=cases, programs=programs()
    )


def for_zsh() -> str:
    described = "\n".join(f"      '{one.name}:{quoted(one.summary)}'" for one in COMMANDS)
    cases = "\n".join(f"      {name}) others=({words}) ;;" for name, words in other_words().items())
    return ZSH.substitute(described=described, cases=cases, programs=programs())


def for_fish() -> str:
    described = "\n".join(
        f"complete -c nbody -f -n __fish_use_subcommand -a {one.name} -d '{quoted(one.summary)}'"
        for one in COMMANDS
    )
    others = "\n".join(f"complete -c nbody -n '__fish_seen_subcommand_from {name}' -a '{words}'"
                       for name, words in other_words().items())
    return FISH.substitute(described=described, others=others, programs=programs())


def quoted(text: str) -> str:
    return text.replace("'", "’")
