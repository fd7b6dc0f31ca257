"""Makes the wheels: `python3 pip/build.py OUT KEY=BINARY...`, where KEY is one of `npm/targets.json`.

The platform tag of a wheel is what its binary asks for. Nothing is downloaded, and nothing is published.
"""
import base64
import csv
import hashlib
import io
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENCES = ("LICENSE-MIT", "LICENSE-APACHE")
# Those of the libraries in auditwheel's policies, on which a tag may count, that a program in Rust may ask for.
GLIBC_LIBRARIES = r"lib(c|m|z|dl|rt|pthread|util|gcc_s)\.so\.\d|ld-linux-[a-z0-9-]+\.so\.\d"
MUSL_LIBRARIES = r"libc\.so|libc\.musl-\w+\.so\.1|libz\.so\.1"


class Unfit(Exception):
    """A program that would not start on every machine that its tag names."""


def fail(what, advice):
    print(f"{what}\n  next: {advice}", file=sys.stderr)
    sys.exit(2)


def read_text(data, at):
    return data[at : data.index(b"\0", at)].decode("ascii")


def read_elf(data):
    kind, machine, _, entry, table = struct.unpack_from("<HHIQQ", data, 16)
    size, count = struct.unpack_from("<HH", data, 54)
    cpu, arch = {0x3E: ("x64", "x86_64"), 0xB7: ("arm64", "aarch64")}.get(machine, (None, None))
    # A library, an object file and a program of FreeBSD have the same first bytes.
    if data[4:6] != b"\2\1" or data[7] not in (0, 3) or not cpu or kind not in (2, 3) or entry == 0:
        return None
    segments = [struct.unpack_from("<IIQQQQ", data, table + size * index) for index in range(count)]
    if any(at + length > len(data) for _, _, at, _, _, length in segments):
        return None
    interpreter = next((read_text(data, segment[2]) for segment in segments if segment[0] == 3), None)
    dynamic = [pair for kind, _, at, _, _, length in segments if kind == 2
               for pair in struct.iter_unpack("<QQ", data[at : at + length])]
    # The strings of the dynamic loader, where the names of libraries and of the versions of symbols stand.
    start, length = dict(dynamic).get(5, 0), dict(dynamic).get(10, 0)
    at = next((at + start - low for kind, _, at, low, _, size in segments if kind == 1 and low <= start < low + size), 0)
    needed = [read_text(data, at + value) for kind, value in dynamic if kind == 1]
    versions = re.findall(rb"\0(GLIBC_[^\0]+)(?=\0)", data[at : at + length])
    musl = interpreter == f"/lib/ld-musl-{arch}.so.1"
    if interpreter and not musl and interpreter not in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"):
        raise Unfit(f"asks for the interpreter `{interpreter}`")
    for name in needed:
        if not interpreter or not re.fullmatch(MUSL_LIBRARIES if musl else GLIBC_LIBRARIES, name):
            raise Unfit(f"asks for the library `{name}`")
    if musl:
        # The file does not say which musl it was linked with; none older than 1.2 is maintained.
        return "linux", cpu, [f"musllinux_1_2_{arch}"]
    # Rust asks for 2.17 at least.
    least = (2, 17)
    for name in versions:
        found = re.match(rb"GLIBC_(\d+)\.(\d+)", name.replace(b"GLIBC_ABI_DT_RELR", b"GLIBC_2.36"))
        if not found:
            raise Unfit(f"asks for the version `{name.decode()}`")
        least = max(least, (int(found[1]), int(found[2])))
    # An older pip knows 2.17 by its other name.
    tags = [f"manylinux2014_{arch}"] * (least == (2, 17)) + ["manylinux_%d_%d_%s" % (*least, arch)]
    # A static program needs no library, but pip takes only a wheel that names the one of the machine.
    return "linux", cpu, tags if interpreter else [*tags, f"musllinux_1_1_{arch}"]


def read_mach_o(data):
    machine, _, kind, count = struct.unpack_from("<IIII", data, 4)
    cpu, arch = {0x01000007: ("x64", "x86_64"), 0x0100000C: ("arm64", "arm64")}.get(machine, (None, None))
    at, least = 32, None
    for _ in range(count):
        command, size, first, second = struct.unpack_from("<IIII", data, at)
        # LC_VERSION_MIN_MACOSX, or LC_BUILD_VERSION where its platform is macOS.
        if command == 0x24 or (command == 0x32 and first == 1):
            version = first if command == 0x24 else second
            least = (version >> 16, version >> 8 & 0xFF)
        if size < 8:
            return None
        at += size
    if not cpu or kind != 2 or not least:
        return None
    if least >= (11, 0):
        # pip knows only whole versions from 11 on, so a part of one is rounded up.
        least = (least[0] + (least[1] > 0), 0)
    return "darwin", cpu, ["macosx_%d_%d_%s" % (*(max(least, (11, 0)) if cpu == "arm64" else least), arch)]


def read_pe(data):
    (at,) = struct.unpack_from("<I", data, 60)
    machine, flags = struct.unpack_from("<H16xH", data, at + 4)
    cpu, arch = {0x8664: ("x64", "amd64"), 0xAA64: ("arm64", "arm64")}.get(machine, (None, None))
    # A program has the one flag; a library has the other one too.
    program = data[at : at + 4] == b"PE\0\0" and flags & 0x2002 == 2
    return ("win32", cpu, [f"win_{arch}"]) if cpu and program else None


def read_platform(data):
    """The system, the processor and the tags of a program, or None."""
    readers = {b"\x7fELF": read_elf, b"\xcf\xfa\xed\xfe": read_mach_o}
    reader = readers.get(data[:4]) or (read_pe if data[:2] == b"MZ" else None)
    try:
        return reader(data) if reader else None
    except (struct.error, ValueError, OverflowError):
        # The file ends too early, or points to where nothing is.
        return None


def pack(project, program, binary, tags):
    """The bytes of a wheel, which are the same for the same input."""
    wheel = f"agent_cook-{project['version']}"
    info = f"{wheel}.dist-info"
    metadata = ["Metadata-Version: 2.4", "Name: agent-cook", f"Version: {project['version']}",
                f"Summary: {project['description']}", f"License-Expression: {project['license']}",
                *(f"License-File: {name}" for name in LICENCES), "Requires-Python: >=3.9",
                "Description-Content-Type: text/markdown", "", f"{project['description']}.", ""]
    marks = ["Wheel-Version: 1.0", "Generator: agent-cook", "Root-Is-Purelib: false",
             *(f"Tag: py3-none-{tag}" for tag in tags), ""]
    files = {f"{wheel}.data/scripts/{program}": binary,
             **{f"{info}/licenses/{name}": (ROOT / name).read_bytes() for name in LICENCES},
             f"{info}/METADATA": "\n".join(metadata).encode(), f"{info}/WHEEL": "\n".join(marks).encode()}
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            # Unix, on Windows too: otherwise the mode is not read.
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if data is binary else 0o100644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def main(arguments):
    if len(arguments) < 2:
        fail("OUT or KEY=BINARY is missing", "python3 pip/build.py OUT KEY=BINARY...")
    targets = json.loads((ROOT / "npm/targets.json").read_text(encoding="utf-8"))
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    project = {key: re.search(f'^{key} = "(.+)"$', manifest, re.M)[1] for key in ("version", "description", "license")}
    # `1.0.0-rc.1` is `1.0.0rc1` in Python (PEP 440).
    project["version"] = re.sub(r"-(a|b|rc)[a-z]*\.?", r"\1", project["version"])
    wheels = {}
    for key, _, path in (pair.partition("=") for pair in arguments[1:]):
        target = targets.get(key) or fail(f"unknown platform `{key}`", f"name one of {', '.join(targets)}")
        try:
            binary = Path(path).read_bytes()
            found = read_platform(binary)
        except OSError as error:
            fail(f"`{path}` cannot be read: {error.strerror}", f"build it, or name another one: {key}=BINARY")
        except Unfit as error:
            fail(f"`{path}` {error}, which other machines may lack", f"build it for `{target['target']}`: {key}=BINARY")
        if not found:
            fail(f"`{path}` is not a program of a known platform", f"name the built `cook`: {key}=BINARY")
        if found[:2] != (target["os"], target["cpu"]):
            fail(f"`{path}` was built for {found[0]}-{found[1]}, not for {key}", f"name the program that was built for {key}")
        name = f"agent_cook-{project['version']}-py3-none-{'.'.join(found[2])}.whl"
        if name in wheels:
            fail(f"two binaries make `{name}`", f"name one of them: {key}=BINARY")
        wheels[name] = ("cook.exe" if found[0] == "win32" else "cook", binary, found[2])
    # All of them are sound before the first is written.
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    for name, wheel in wheels.items():
        (out / name).write_bytes(pack(project, *wheel))


if __name__ == "__main__":
    main(sys.argv[1:])
