# SPDX-License-Identifier: Apache-2.0
"""Images for the tests, made of what Debian's packages put on this machine: no registry is needed.

`busybox_root` is a static busybox with the tests' known load; `python_root` has Python; `example_root` has numpy and
OpenCV too, with all libraries that they load, and the example app: ten times as large."""
import fcntl
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / "build/engines"
EXAMPLE = REPOSITORY / "examples/objcounter"
PYTHON = ["python3", "python3-minimal", "python3.*-minimal", "libpython3-stdlib", "libpython3.*-minimal",
          "libpython3.*-stdlib"]
VISION = ["python3-numpy", "python3-opencv"]
LEFT_OUT = ("/usr/share/doc", "/usr/share/man", "/usr/share/lintian")
EMPTY_FOLDERS = ("tmp", "root", "proc", "sys", "dev", "run", "data")
PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"


def _output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _add_bytes(tar, name, data, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    tar.addfile(entry, io.BytesIO(data))


def _add_link(tar, name, target):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def _add_skeleton(tar):
    for name in EMPTY_FOLDERS:
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
        tar.addfile(entry)
    _add_bytes(tar, "etc/passwd", PASSWD.encode())


def _add_busybox(tar, folder):
    program = next(path for path in ("/usr/bin/busybox", "/bin/busybox") if os.path.exists(path))
    tar.add(program, f"{folder}/busybox")
    for applet in _output(program, "--list").split():
        if applet != "busybox":
            _add_link(tar, f"{folder}/{applet}", "busybox")


def busybox_root(programs=()):
    """The bytes of a tar; `programs` are static ones that come along."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        _add_skeleton(tar)
        _add_busybox(tar, "bin")
        for program in programs:
            tar.add(program, f"bin/{pathlib.Path(program).name}")
    return made.getvalue()


def worker_root(program, called=None, busybox=()):
    """The bytes of a tar with a program at /usr/bin and all libraries that it loads, libcurl at its first use; with some
    words of busybox where asked for."""
    curl = next(path for path in pathlib.Path("/usr/lib").glob("*/libcurl.so.4"))
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        _add_skeleton(tar)
        for name in ("bin", "lib", "lib64", "sbin"):
            _add_link(tar, name, f"usr/{name}")
        for file in _with_targets([str(curl), *_libraries_of([str(program), str(curl)])]):
            tar.add(file, file.lstrip("/"), recursive=False)
        tar.add(program, f"usr/bin/{called or pathlib.Path(program).name}")
        for applet in busybox:
            tar.add("/usr/bin/busybox", f"usr/bin/{applet}")
    return made.getvalue()


def archive(name, layer, architecture):
    """The bytes of what `docker save` writes for an image of one layer, made for that architecture."""
    config = {"architecture": architecture, "os": "linux", "config": {"Cmd": ["/bin/true"]},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        _add_bytes(tar, "config.json", json.dumps(config).encode())
        _add_bytes(tar, "manifest.json", json.dumps(manifest).encode())
        _add_bytes(tar, "layer.tar", layer)
    return made.getvalue()


def _files_of(packages):
    installed = _output("dpkg-query", "-W", "-f", "${db:Status-Status} ${binary:Package}\n", *packages)
    names = [line.split()[1] for line in installed.splitlines() if line.startswith("installed ")]
    listed = _output("dpkg-query", "-L", *names).splitlines()
    return [path for path in listed if path.startswith("/") and not path.startswith(LEFT_OUT)
            and (os.path.isfile(path) or os.path.islink(path))]


def _is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _libraries_of(paths):
    """Every file that the dynamic loader would open for these, by the names it looks them up by."""
    listed = subprocess.run(["ldd", *paths], check=False, capture_output=True, text=True).stdout
    words = (word for line in listed.splitlines() if not line.endswith(":") for word in line.split())
    return sorted({word for word in words if word.startswith("/")})


def _with_targets(paths):
    """The files under their real folders, and for each link what it leads to."""
    found, left = set(), list(paths)
    while left:
        folder, name = os.path.split(left.pop())
        path = os.path.join(os.path.realpath(folder), name)
        if path in found or not os.path.exists(path) or os.path.isdir(path):
            continue
        found.add(path)
        if os.path.islink(path):
            left.append(os.path.join(os.path.dirname(path), os.readlink(path)))
    return sorted(found)


def _write_root(path, packages):
    files = _with_targets(_files_of(packages))
    programs = [file for file in files if not os.path.islink(file) and _is_elf(file)]
    files = _with_targets([*files, *_libraries_of(programs)])
    with tarfile.open(path, "w") as tar:
        _add_skeleton(tar)
        for name in ("bin", "lib", "lib64", "sbin"):
            _add_link(tar, name, f"usr/{name}")
        _add_busybox(tar, "usr/bin")
        for file in files:
            tar.add(file, file.lstrip("/"), recursive=False)
        for file in sorted(EXAMPLE.glob("*.py")):
            tar.add(file, f"app/{file.name}")


def _key():
    parts = [_output("dpkg-query", "-W").encode(), pathlib.Path(__file__).read_bytes(),
             *(file.read_bytes() for file in sorted(EXAMPLE.glob("*.py")))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _root(name, packages):
    """The tar's path; made in seconds, and kept until a package or the example changes."""
    path = CACHE / f"{name}-{_key()}.tar"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two files of tests may want it
        if not path.exists():
            for old in CACHE.glob(f"{name}-*"):
                old.unlink()
            part = path.with_suffix(".part")
            _write_root(part, packages)
            part.rename(path)
    return path


def python_root():
    return _root("python", PYTHON)


def example_root():
    return _root("example", PYTHON + VISION)
