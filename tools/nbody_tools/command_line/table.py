"""Lists all commands of ./nbody for its help, completion, manual page and dispatcher.

A command is implemented by a module of nbody_tools, by a function in tools/commands.sh, or by both.
If a command has both, the function installs and builds what the module needs, and then starts the
module. A module's parser knows the command's options, so options are listed here only for commands
without a module.
"""

from __future__ import annotations

from dataclasses import dataclass

GROUPS = {"learn": "see what the steps do, and work on them",
          "run": "build and run programs",
          "measure": "time programs and count their operations",
          "maintain": "run tests, write documents, make releases"}


@dataclass(frozen=True)
class Option:
    words: str  # "--minutes M"
    text: str

    @property
    def name(self) -> str:
        return self.words.split()[0]


@dataclass(frozen=True)
class Command:
    name: str
    group: str
    summary: str
    usage: str = "[OPTION...]"
    module: str = ""  # module of nbody_tools with configure(parser) and run(options)
    in_shell: bool = False  # tools/commands.sh has a function for the command
    takes_more: str = ""  # program to which the command passes the other arguments
    completes: str = ""  # arguments to complete: "steps", "labs", "experiments", or a list
    details: str = ""
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def has_parser(self) -> bool:
        """True if a parser prints the command's --help. Otherwise this table has the help text."""
        return not self.details and bool(self.module or self.name in HELPED_BY)


# Programs with their own parser; nothing has to be built before they can print --help.
HELPED_BY = {"view": "view/view.py", "cc": "hostcuda/bin/hostcuda",
             "check": "hostcuda/bin/hostcuda"}


def tool(name: str, group: str, module: str, summary: str, usage: str = "[OPTION...]",
         in_shell: bool = False, completes: str = "") -> Command:
    return Command(name, group, summary, usage, module, in_shell, completes=completes)


COMMANDS = (
    Command("tour", "learn", "run the steps on a real input and write report/index.html", "",
            "tour.tour", True, details="First builds what is missing, which takes a few minutes on "
            "a laptop. Runs on the GPU if there is one, else on the CPU.",
            examples=("./nbody tour",)),
    Command("view", "learn", "show a run or saved snapshots in a browser, in 3D",
            "[OPTION...|FILE...]", in_shell=True),
    tool("inspect", "learn", "inspection.inspect", "count a step's memory accesses line by line "
         "and find races, without a GPU",
         "STEP [OPTION...]", True, "steps"),
    tool("lab", "learn", "labs.working_folder", "copy a lab, a step with code removed, to work on",
         "list|NN [--to FOLDER]", completes="labs"),
    tool("grade", "learn", "labs.grade", "grade a solution of a lab and print a table of points",
         "NN FILE [OPTION...]",
         True, "labs"),
    tool("golf", "learn", "labs.golf",
         "check a kernel of your own, count its cost, and print a row for course/board.md",
         "NN FILE [OPTION...]|--check", True, "steps"),
    tool("take", "learn", "take.take", "copy one step into a directory that builds anywhere",
         "STEP DIRECTORY",
         completes="steps"),
    tool("new", "learn", "new.new", "start a step of your own: a copy of another step that "
         "builds and passes its tests",
         "step NAME --parent STEP"),
    tool("course", "learn", "course.course", "make slides, notebooks, and the archive for a class"),

    Command("build", "run", "build everything, or the named steps", "[--gpu] [STEP...]",
            in_shell=True, completes="steps",
            details="Builds for the CPU in build/cpu, and with nvcc in build/cuda. Without "
            "--gpu it uses nvcc only if there is a GPU and no step is named. All commands "
            "share these folders and build only what they need.",
            options=(Option("--gpu", "build with nvcc"),),
            examples=("./nbody build", "./nbody build 03", "./nbody build --gpu 11 12")),
    Command("experiment", "run", "run an experiment of experiments/, on a GPU if there is one",
            "list|NAME [OPTION...]",
            in_shell=True, takes_more="the experiment", completes="experiments",
            details="Builds the experiment first. `list` prints the names of all experiments; "
            "experiments/NAME/README.md describes an experiment.",
            examples=("./nbody experiment list", "./nbody experiment edge_sharing --bodies 1000 "
                      "--steps 2")),
    tool("run", "run", "measure.run", "run the steps on the same input and print one table"),
    Command("cc", "run", "build a CUDA program of your own for the CPU",
            "FILE.cu... [-o PROGRAM] [OPTION...]",
            in_shell=True),
    Command("check", "run", "build a CUDA program of your own, run it once, and report "
            "its errors",
            "FILE.cu... [OPTION...] [--] [ARGUMENT...]", in_shell=True),
    tool("cluster", "run", "cluster.cluster", "run step 14 on several ranks, or predict its time"),
    tool("handoff", "run", "handoff.handoff", "write a problem as input for SWIFT or GADGET-4",
         "swift|gadget4 [FILE] [OPTION...]", completes="swift gadget4"),
    tool("plot", "run", "figures.plot", "draw records, orbits, states, densities, errors and "
         "diagnostics",
         "KIND FILE... --output FILE [OPTION...]"),
    tool("timeline", "run", "figures.timeline", "draw a run's copies and kernels over time, and "
         "print how much they overlapped"),
    tool("animate", "run", "figures.animate", "make a film of snapshots"),

    tool("measure", "measure", "measure.measure", "check and time everything on a machine with a "
         "GPU"),
    tool("sweep", "measure", "sweep.sweep", "measure every configuration in the tables of the "
         "reports",
         in_shell=True),
    tool("tune", "measure", "measure.tune", "find the fastest blocks and tiles of steps 11 to 13 "
         "on this device"),
    tool("profile", "measure", "measure.profile", "count what the kernels of a step do, with "
         "Nsight Compute"),
    tool("compare", "measure", "compare.compare", "time our steps next to other programs"),
    tool("calibrate", "measure", "inspection.calibrate",
         "update docs/results/patterns/, the data of the tables in docs/inspect.md"),

    Command("setup", "maintain", "install the packages needed to build and test", "", in_shell=True,
            details="Installs the packages of packaging/packages.txt with apt-get if it may do so "
            "without a password, and otherwise prints the command for the administrator. Reports "
            "what it did.",
            examples=("./nbody setup",)),
    Command("test", "maintain", "build everything and run the tests",
            "[--asan|--tsan|--nightly] [CTEST ARGUMENT...]", in_shell=True, takes_more="ctest",
            details="Without options, runs the tests of preset cpu and, if there is a GPU, also "
            "those of preset cuda. With CI=true in the environment, nvcc compiles the steps even "
            "without a GPU. The last line is \"N passed, N failed, N skipped\", summed over all "
            "runs of ctest.",
            options=(Option("--asan", "run the tests with AddressSanitizer and "
                            "UndefinedBehaviorSanitizer (preset cpu-asan)"),
                     Option("--tsan", "run the tests of multithreaded programs with "
                            "ThreadSanitizer (preset cpu-tsan)"),
                     Option("--nightly", "also run the long tests and both sanitizers, and compile "
                            "with nvcc for all architectures"),
                     Option("--minutes M", "after --nightly: run for M minutes, stale tests first; "
                            "results go to tests/nightly.csv"),
                     Option("--tests EXPRESSION", "after --nightly: run only these tests"),
                     Option("--status", "after --nightly: list the tests that failed, are stale, "
                            "or never passed")),
            examples=("./nbody test", "./nbody test -L step03_tiling",
                      "./nbody test --nightly --minutes 30",
                      "./nbody test --nightly --status")),
    tool("nightly", "maintain", "nightly.nightly", "run ./nbody test --nightly without installing "
         "packages first",
         "[OPTION...]"),
    tool("documents", "maintain", "documents.documents", "write the READMEs and other pages from "
         "their templates"),
    tool("report", "maintain", "documents.report", "write docs/report.md and draw its figures"),
    tool("validation", "maintain", "documents.validation", "write docs/validation.md and its "
         "reference from the results of the mutants"),
    tool("diagrams", "maintain", "diagrams.diagrams", "draw the diagrams of the documents"),
    tool("scenarios", "maintain", "tour.scenarios", "draw docs/figures/scenarios/"),
    tool("solar-system", "maintain", "physics.solar_system",
         "simulate 1 and 10 years of the planets, and print their distances from the ephemeris"),
    tool("orders", "maintain", "physics.orders", "draw errors against time step, integrator and "
         "precision"),
    tool("integrators", "maintain", "physics.integrators", "compare the programs of integrators/ "
         "with REBOUND's IAS15; draw errors against cost"),
    tool("disk-halo", "maintain", "physics.disk_halo", "test whether a simulated galaxy is stable"),
    tool("site", "maintain", "course.site", "build a searchable site of all documents"),
    tool("release", "maintain", "release.release", "write the archive of a release", "DIR"),
    tool("completion", "maintain", "command_line.completion",
         "print the completion for bash, zsh or fish, or the manual page", "bash|zsh|fish|man",
         completes="bash zsh fish man"),
    Command("help", "maintain", "print this list, or the help of a command", "[COMMAND]",
            examples=("./nbody help", "./nbody help test")),
    Command("version", "maintain", "print the version and the revision", "",
            examples=("./nbody version",)),
)

BY_NAME = {command.name: command for command in COMMANDS}
ALIASES = {"-h": "help", "--help": "help", "--version": "version", "tools": "help"}
EXIT_CODES = ("0 success; 1 the command ran and found an error; 2 invalid argument or file, "
              "reported in one line; 77 this machine lacks something that the "
              "command requires.")
