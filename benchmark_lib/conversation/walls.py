"""Walls around an agent's process on Linux: processes, files and a user of its own.

Behind them neither the command nor its run file can be named. The system, Python and the folders it imports from are
there to read, without the paths that are hidden; one small folder in memory is there to write.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable

SYSTEM = ("/bin", "/etc", "/gnu/store", "/lib", "/lib32", "/lib64", "/nix/store", "/opt", "/sbin", "/usr")
DEVICES = ("full", "null", "random", "urandom", "zero")
HOME = "/agent"
ROOM = "size=256m,nr_inodes=100k,mode=755"
"""How much an agent may write, all in all."""
MOST_PROCESSES = 512
STRANGER, NOBODY = 2_000_000_000, 65_534
"""Where the numbers of users begin that nobody has, and the user taken where those are not to be had."""
NAMESPACES, USER_NAMESPACE = 0x20000 | 0x4000000 | 0x8000000 | 0x20000000, 0x10000000
NOSUID, NODEV, NOEXEC, BIND, RECURSIVE, PRIVATE, DETACH = 2, 4, 8, 4096, 16384, 1 << 18, 2
MOUNT_SETATTR, OF_ALL_BELOW, HERE = 442, 0x8000, -100
PARENT_DIED, DUMPABLE, NO_NEW_PRIVILEGES = 1, 4, 38
CAPABILITIES = 0x20080522


def leave() -> None:
    """Leave the namespaces of the system, so that the next child is the first process of new ones.

    `OSError` where the system does not allow it.
    """
    if sys.platform != "linux":
        raise OSError("only Linux has what keeps an agent apart")
    user, group = os.geteuid(), os.getegid()
    _ask("unshare", NAMESPACES | (USER_NAMESPACE if user else 0))
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        if user:
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)


def enter(
    root: str, shown: Iterable[str], places: Iterable[str], hidden: Iterable[str], suffix: str, stranger: int
) -> None:
    """Go behind the walls for good: `root` becomes the whole file system.

    `OSError` where the system does not allow it.

    Parameters
    ----------
    root : str
        An empty folder.
    shown, places : iterable of str
        Paths that can be read, and folders whose hidden files and run files are left out.
    hidden : iterable of str
        Paths that are left out wherever they are.
    suffix : str
        What the names of run files contain.
    stranger : int
        Makes the number of the agent's user its own, where this process is root.
    """
    os.umask(0o022)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out, the agent goes and the command stays
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
    with contextlib.suppress(OSError):  # in some containers no process may look at any: then the folder stays empty
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
    """Bind what is shown into the new root, read-only; a folder that holds something hidden is made anew, part by part."""
    whole: list[str] = []
    seen: set[str] = set()

    def left_out(path: str, real: str) -> bool:
        name = os.path.basename(path)
        return name.startswith(".") or suffix in name or real in hidden or (os.path.islink(path) and holds_hidden(real))

    def holds_hidden(real: str) -> bool:
        return any(one.startswith(real.rstrip("/") + "/") for one in hidden)

    def show(path: str, real: str) -> None:
        target = root + path
        if path in seen:
            return
        seen.add(path)
        if os.path.isdir(real):
            os.makedirs(target, exist_ok=True)
            if path in places or holds_hidden(real):
                with contextlib.suppress(PermissionError):
                    for inner in (os.path.join(path, name) for name in os.listdir(real)):
                        of_inner = os.path.realpath(inner)
                        if not left_out(inner, of_inner) and not (path == "/" and os.path.isdir(inner)):
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

    for path in sorted({*shown, *places, *map(os.path.realpath, shown | places)}):
        if not any(path == one or path.startswith(f"{one}/") for one in whole):
            show(path, os.path.realpath(path))


def _drop(stranger: int) -> None:
    """Become a user that owns nothing, where this process is root, and give up every privilege."""
    import resource

    if os.geteuid() == 0:
        os.setgroups([])
        for number in (STRANGER + stranger, NOBODY):
            with contextlib.suppress(OSError):
                os.setresgid(number, number, number)
                os.setresuid(number, number, number)
                break
        if os.geteuid() == 0:
            raise OSError("no other user could be taken")
    _ask("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _ask("capset", (ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)())
    _ask("prctl", DUMPABLE, 1, 0, 0, 0)
    _ask("prctl", PARENT_DIED, 9, 0, 0, 0)
    for name, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_NPROC, MOST_PROCESSES)):
        hard = resource.getrlimit(name)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (most, most))


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    _ask("mount", source.encode(), target.encode(), kind and kind.encode(), flags, options.encode() or None)


def _read_only(target: str) -> None:
    """Close a mount and all below it for writing, for setuid programs and for devices."""
    attributes = (ctypes.c_uint64 * 4)(1 | NOSUID | NODEV, 0, 0, 0)
    _ask("syscall", MOUNT_SETATTR, HERE, os.fsencode(target), OF_ALL_BELOW, attributes, ctypes.sizeof(attributes))


def _ask(name: str, *arguments: object) -> None:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*given) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
