"""Walls around an agent's process on Linux: separate processes, files and user.

The process behind them cannot find the command or its run file. It can read the system, Python and the import folders,
except hidden paths, and write one small folder in memory.

``python -I -S walls.py WALLS COMMAND ...`` starts a command behind them. It imports only the standard library: none of
the agent's files can run before the walls are up. Its own first line of output is `UP`, or ``open`` with the reason.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
from collections.abc import Iterable
from typing import Any

UP = "up"

SYSTEM = ("/bin", "/etc", "/gnu/store", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/sbin", "/usr")
DEVICES = ("full", "null", "random", "urandom", "zero")
HOME = "/agent"
ROOM = "size=256m,nr_inodes=100k,mode=755"
"""Limits on the files that an agent may write."""
MOST_PROCESSES, MOST_FILES = 512, 256
MOST_MEMORY = 16 * 2**30
"""Maximum bytes of address space for each process of an agent."""
MOST_NAMES = 200_000
"""Maximum number of names in the import folders to search for hidden files."""
STRANGER, FEW = 2_000_000_000, 30_000
"""First ids of unused users; the second, for a container with only 65,536 users, is also the size of its range."""
NAMESPACES, USER_NAMESPACE = 0x20000 | 0x4000000 | 0x8000000 | 0x20000000, 0x10000000
NOSUID, NODEV, NOEXEC, BIND, RECURSIVE, PRIVATE, DETACH = 2, 4, 8, 4096, 16384, 1 << 18, 2
MOUNT_SETATTR, OF_ALL_BELOW, HERE = 442, 0x8000, -100
PARENT_DIED, DUMPABLE, ADOPT, NO_NEW_PRIVILEGES = 1, 4, 36, 38
CAPABILITIES = 0x20080522


def start(walls: dict[str, Any] | None, command: list[str]) -> None:
    """Fork: the child becomes the command, behind `walls` if given; this process ends it.

    This process kills the child and its descendants when the harness closes the pipe on its standard error. The child
    never has that pipe.
    """
    number = os.getpid()
    try:
        if walls is not None:
            leave()
        elif sys.platform == "linux":
            ctypes.CDLL(None).prctl(ADOPT, 1, 0, 0, 0)
        child = os.fork()
        if child:
            _watch(child)
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if walls is not None:
            enter(os.getcwd(), **walls, stranger=number)
        print(json.dumps({UP: True}), flush=True)
        os.execv(command[0], command)
    except OSError as error:
        print(json.dumps({"open": error.strerror or str(error)}), flush=True)
        os._exit(1)


def _watch(child: int) -> None:
    os.closerange(0, 2)
    os.closerange(3, MOST_FILES)
    harness = select.poll()
    harness.register(2, 0)  # requests no event, so that only the closing of the other end counts
    harness.poll()
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    left = [child]
    while left:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        left = _children()
    os._exit(0)


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def leave() -> None:
    """Leave the system's namespaces, so that the next child is the first process in new ones.

    Raise `OSError` if the system forbids it.
    """
    user, group = os.geteuid(), os.getegid()
    _ask("unshare", NAMESPACES | (USER_NAMESPACE if user else 0))
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        if user:
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)


def enter(
    root: str, shown: Iterable[str], places: Iterable[str], hidden: Iterable[str], suffix: str, stranger: int
) -> None:
    """Go behind the walls permanently: `root` becomes the whole file system.

    Raise `OSError` if the system forbids it.

    Parameters
    ----------
    root : str
        An empty folder.
    shown, places : iterable of str
        Readable paths, and import folders without their hidden files and run files.
    hidden : iterable of str
        Paths to exclude everywhere.
    suffix : str
        A part of every run file's name.
    stranger : int
        Number that makes the agent's user unique, if this process is root.
    """
    os.umask(0o022)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # if memory runs out, the agent is killed and the command survives
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    _mount("tmpfs", root, "tmpfs", NOSUID | NODEV, ROOM)
    hidden = {os.path.realpath(path) for path in (*hidden, root)}
    _show(root, {*SYSTEM, *shown, os.path.realpath("/etc/resolv.conf")}, {*places}, hidden, suffix)
    os.makedirs(f"{root}/dev/shm", exist_ok=True)
    for name in DEVICES:
        open(f"{root}/dev/{name}", "x").close()
        _mount(f"/dev/{name}", f"{root}/dev/{name}", None, BIND)
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.mkdir(f"{root}/proc")
    with contextlib.suppress(OSError):  # in containers that forbid processes to inspect others, the folder stays empty
        _mount("proc", f"{root}/proc", "proc", NOSUID | NODEV | NOEXEC)
    for name in (HOME, "/tmp", "/dev/shm"):
        os.makedirs(root + name, exist_ok=True)
        os.chmod(root + name, 0o1777)
    os.chdir(root)
    _ask("pivot_root", b".", b".")
    _ask("umount2", b".", DETACH)
    os.chdir(HOME)
    _drop(stranger)


def _show(root: str, shown: set[str], places: set[str], hidden: set[str], suffix: str) -> None:
    """Bind the shown paths into the new root, read-only; rebuild folders with hidden parts."""
    # Copy a link in such a folder as a link: it leads to a shown path or nowhere.
    shown = shown | {*map(os.path.realpath, shown)}
    real_places = {*map(os.path.realpath, places)}
    hidden = hidden | _hidden_below(real_places, hidden | shown, suffix)
    whole: list[str] = []
    links: dict[str, str] = {}
    seen: set[str] = set()
    anew = {*real_places}
    for one in (*hidden, *real_places):
        while (one := os.path.dirname(one)) not in anew:
            anew.add(one)

    def show(path: str, real: str) -> None:
        target = root + path
        if path in seen:
            return
        seen.add(path)
        if os.path.isdir(real):
            os.makedirs(target, exist_ok=True)
            if real in anew:
                with contextlib.suppress(PermissionError):
                    for name in os.listdir(real):
                        inner, of_inner = os.path.join(path, name), os.path.join(real, name)
                        if os.path.islink(of_inner) and of_inner not in hidden:
                            links[root + inner] = os.readlink(of_inner)
                        elif of_inner not in hidden and not (path == "/" and os.path.isdir(of_inner)):
                            show(inner, of_inner)
                return
        elif os.path.isfile(real):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            open(target, "a").close()
        else:
            return
        with contextlib.suppress(PermissionError):
            _mount(real, target, None, BIND | RECURSIVE)
            _read_only(target)
            whole.append(path)

    for path in sorted({*shown, *places, *real_places}):
        if not any(path == one or path.startswith(f"{one}/") for one in whole):
            show(path, os.path.realpath(path))
    for target, source in links.items():  # last, so that nothing is mounted through a link
        if not os.path.lexists(target):
            os.symlink(source, target)


def _hidden_below(places: set[str], known: set[str], suffix: str) -> set[str]:
    """Find hidden files, run files, sockets and pipes in import folders; skip `known` paths."""
    hidden: set[str] = set()
    folders, names, passed = [*places], 0, known | places
    while folders:
        folder = folders.pop()
        try:
            entries = [*os.scandir(folder)]
        except OSError:
            hidden.add(folder)
            continue
        names += len(entries)
        if names > MOST_NAMES:
            raise OSError(f"the folders that Python imports from hold more than {MOST_NAMES:,} names")
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            odd = not (is_folder or entry.is_symlink() or entry.is_file(follow_symlinks=False))
            if odd or entry.name.startswith(".") or suffix in entry.name:
                hidden.add(entry.path)
            elif is_folder and folder != "/" and entry.path not in passed:
                folders.append(entry.path)
    return hidden


def _drop(stranger: int) -> None:
    """Become an unused user if this process is root, drop every privilege, and set limits."""
    import resource

    if os.geteuid() == 0:
        for number in (STRANGER + stranger, FEW + stranger % FEW):
            with contextlib.suppress(OSError):
                os.setgroups([])
                os.setresgid(number, number, number)
                os.setresuid(number, number, number)
                break
        if os.geteuid() == 0:
            raise OSError("no other user could be taken")
    _ask("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _ask("capset", (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)())
    _ask("prctl", DUMPABLE, 1, 0, 0, 0)
    _ask("prctl", PARENT_DIED, 9, 0, 0, 0)
    limits = (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NPROC, MOST_PROCESSES), (resource.RLIMIT_AS, MOST_MEMORY)
    for name, most in limits:
        hard = resource.getrlimit(name)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (most, most))


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    _ask("mount", os.fsencode(source), os.fsencode(target), kind and kind.encode(), flags, options.encode() or None)


def _read_only(target: str) -> None:
    """Make a mount and everything below it read-only, without setuid programs or devices."""
    attributes = (ctypes.c_uint64 * 4)(1 | NOSUID | NODEV, 0, 0, 0)
    _ask("syscall", MOUNT_SETATTR, HERE, os.fsencode(target), OF_ALL_BELOW, attributes, ctypes.sizeof(attributes))


def _ask(name: str, *arguments: object) -> None:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*given) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    start(json.loads(sys.argv[1]), sys.argv[2:])
