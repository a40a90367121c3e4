"""Adds cuda-gdb's commands to gdb, for programs that run on hostcuda.

In gdb, enter: source hostcuda/gdb/hostcuda.py

  info cuda threads     lists the threads of the running block, and where they wait
  cuda thread           shows which thread gdb looks at
  cuda thread (5,0,0)   switches to a waiting thread of the block: backtrace, print, up, down
  cuda block            shows the running block
  set cuda memcheck on  stops at every finding

These commands do not affect the program, which continues where it stopped, whichever thread gdb
looked at. With OMP_NUM_THREADS=1 blocks run one after another, so you can wait for a certain block:
`break LINE if blockIdx.x == 2`.
"""
import re
import struct

import gdb
import gdb.unwinder

# jump_fcontext saves these registers on a waiting thread's stack, above its control words.
SAVED = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
LEAVES_RED_ZONE = b"\x48\x8d\xa4\x24\x80\0\0\0"  # lea 128(%rsp), %rsp
GOES_ON = ("continue", "next", "step", "finish", "until", "advance", "nexti", "stepi")
OTHERS_CODE = re.compile(r"/hostcuda/(include|src|trace)/|/include/c\+\+/|/hostcuda/gdb/")


def position(value):
    return tuple(int(value[member]) for member in "xyz")


def text(v):
    return "({},{},{})".format(*v)


def numbers(words, command):
    found = [int(word) for word in re.findall(r"\d+", words)]
    if not found or len(found) > 3 or not re.fullmatch(r"[\d,() ]*", words):
        raise gdb.GdbError(f"{command}: (x,y,z) or x expected, not '{words}'")
    return tuple((found + [0, 0])[:3])


def running_block():
    block = gdb.parse_and_eval("hostcuda::running_block")
    if not block:
        raise gdb.GdbError("no kernel is running")
    return block.dereference()


def state_of(block, i):
    thread = block["threads_"]["_M_elems"][i]
    status = str(thread["status"]).rpartition("::")[2]
    if status in ("at_barrier", "in_warp_call"):
        what = "a barrier" if status == "at_barrier" else "a warp function"
        return f"waiting at {what}, {thread['file'].string()}:{int(thread['line'])}"
    if status == "running":
        return "running" if i == int(block["current_"]) else "letting others run"
    return {"fresh": "not begun", "finished": "returned"}[status]


class Focus:
    """The thread that gdb shows instead of the running thread."""
    thread = None
    registers = {}  # the thread's register values, which it saved before it waited
    stopped_at = 0  # the running thread's stack pointer

    @classmethod
    def leave(cls):
        cls.thread = None
        gdb.invalidate_cached_frames()

    @classmethod
    def go_to(cls, wanted):
        cls.leave()
        block = running_block()
        shape = position(block["launch_"].dereference()["block"])
        if any(at >= size for at, size in zip(wanted, shape)):
            raise gdb.GdbError(
                f"cuda thread: the block has {text(shape)} threads, so no thread {text(wanted)}"
            )
        i = wanted[0] + shape[0] * (wanted[1] + shape[1] * wanted[2])
        if i == int(block["current_"]):
            return gdb.newest_frame().select()
        state = state_of(block, i)
        if state in ("not begun", "returned"):
            raise gdb.GdbError(f"cuda thread: {text(wanted)} has {state}")
        fiber = block["threads_"]["_M_elems"][i]["fiber"].dereference()
        suspended = int(fiber["suspended"])
        words = gdb.selected_inferior().read_memory(suspended, 8 * (1 + len(SAVED)))
        cls.registers = dict(zip(SAVED, struct.unpack(f"<8x{len(SAVED)}Q", words)))
        cls.registers["rsp"] = suspended + len(words)
        # hostcuda::jump moves the stack pointer past the red zone, but the unwinder ignores this.
        code = gdb.selected_inferior().read_memory(cls.registers["rip"], len(LEAVES_RED_ZONE))
        if bytes(code) == LEAVES_RED_ZONE:
            cls.registers["rsp"] += 128
        cls.stopped_at = int(gdb.newest_frame().read_register("rsp"))
        cls.thread = wanted
        gdb.invalidate_cached_frames()
        select_users_frame(gdb.newest_frame().older())
        return None


def select_users_frame(frame):
    """Searches from `frame` outwards and selects the first frame in one of the program's files."""
    while frame is not None:
        line = frame.find_sal()
        if line.symtab and not OTHERS_CODE.search(line.symtab.fullname()):
            frame.select()
            return
        frame = frame.older()


class Waiting(gdb.unwinder.Unwinder):
    """Makes gdb show the frames of the thread in Focus as the callers of the frame where the
    program stopped."""

    def __init__(self):
        super().__init__("hostcuda")

    def __call__(self, pending):
        sp = pending.read_register("rsp")
        if Focus.thread is None or int(sp) != Focus.stopped_at:
            return None
        # gdb requires that each frame's stack address is above that of the previous (inner) frame.
        # Therefore this method reports an address just below the waiting thread's stack address.
        below = gdb.Value(Focus.registers["rsp"] - 8).cast(sp.type)
        found = pending.create_unwind_info(FrameId(below, pending.read_register("rip")))
        for name, value in Focus.registers.items():
            kind = pending.read_register(name).type
            found.add_saved_register(name, gdb.Value(value).cast(kind))
        return found


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def block_position():
    """Returns blockIdx. The cast is needed because, in a program that does not use blockIdx, gdb
    does not know its type."""
    return position(gdb.parse_and_eval("(uint3)blockIdx"))


class Prefix(gdb.Command):
    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


class CudaThread(gdb.Command):
    """Shows or changes the thread of the block that gdb looks at: cuda thread [(x,y,z)]"""

    def invoke(self, words, _):
        if words:
            Focus.go_to(numbers(words, "cuda thread"))
        thread = Focus.thread or position(gdb.parse_and_eval("(uint3)threadIdx"))
        print(f"[Current focus set to CUDA block {text(block_position())}, "
              f"thread {text(thread)}]")
        if words:
            gdb.execute("frame")


class CudaBlock(gdb.Command):
    """Shows the running block (gdb cannot show any other block): cuda block [(x,y,z)]"""

    def invoke(self, words, _):
        here = block_position()
        if words and numbers(words, "cuda block") != here:
            raise gdb.GdbError(
                f"cuda block: only block {text(here)} runs; stop in another one with "
                "break LINE if blockIdx.x == ..."
            )
        print(f"[Current focus set to CUDA block {text(here)}]")


class InfoCudaThreads(gdb.Command):
    """Lists the threads of the running block, and where they wait."""

    def invoke(self, _words, _):
        block = running_block()
        here = text(block_position())
        states = [state_of(block, i) for i in range(int(block["count_"]))]
        print(f"kernel {block['launch_'].dereference()['site']['kernel'].string()}, block {here}")
        first = 0
        for i in range(1, len(states) + 1):
            if i < len(states) and states[i] == states[first]:
                continue
            ends = [
                text(position(block["threads_"]["_M_elems"][at]["index"])) for at in (first, i - 1)
            ]
            print(
                f"{'*' if states[first] == 'running' else ' '} {ends[0]} to {ends[1]}: {i - first} "
                f"thread{'s' if i - first > 1 else ''}, {states[first]}"
            )
            first = i


class SetCudaMemcheck(gdb.Command):
    """Stops at every finding: set cuda memcheck on|off"""
    breakpoint = None

    def invoke(self, words, _):
        if words not in ("on", "off"):
            raise gdb.GdbError(f"set cuda memcheck: on or off, not '{words}'")
        if SetCudaMemcheck.breakpoint:
            SetCudaMemcheck.breakpoint.delete()
            SetCudaMemcheck.breakpoint = None
        if words == "on":
            SetCudaMemcheck.breakpoint = gdb.Breakpoint("hostcuda_finding", internal=True)
            SetCudaMemcheck.breakpoint.silent = True


def show_finding(event):
    if SetCudaMemcheck.breakpoint in getattr(event, "breakpoints", []):
        select_users_frame(gdb.newest_frame())
        gdb.execute("frame")


for name in ("cuda", "info cuda", "set cuda"):
    Prefix(name)
CudaThread("cuda thread", gdb.COMMAND_RUNNING)
CudaBlock("cuda block", gdb.COMMAND_RUNNING)
InfoCudaThreads("info cuda threads", gdb.COMMAND_RUNNING)
SetCudaMemcheck("set cuda memcheck", gdb.COMMAND_RUNNING)
gdb.unwinder.register_unwinder(None, Waiting(), replace=True)
gdb.events.stop.connect(show_finding)
gdb.hostcuda_leave = Focus.leave
for name in GOES_ON:
    gdb.execute(f"define hook-{name}\npython gdb.hostcuda_leave()\nend")
