"""A child without Chroma, told by its one argument how to misbehave.

What the parent does with it is tested in milliseconds, and hangs and deaths come exactly where they are wanted.
"""

FAKE_CHILD = """
import os, struct, sys, time
from pathlib import Path
from kb.adapters.chroma.frames import Frame, read_frame, write_frame
mode, keys = sys.argv[1], set()
while (frame := read_frame(sys.stdin.buffer)) is not None:
    do, reply = frame.facts["do"], Frame({})
    if mode == f"die in {do}":
        os._exit(139)
    if mode == f"hang in {do}":
        time.sleep(600)
    if mode == f"fail in {do}":
        reply = Frame({"error": "InternalError"})
    elif mode == f"babble in {do}":
        sys.stdout.buffer.write(b"thread panicked at " + b"x" * 99)
        sys.stdout.buffer.flush()
        os._exit(1)
    elif do == "open":
        memory = Path(frame.facts["folder"]) / "chroma.sqlite3"
        if memory.exists():
            keys = set(map(int, memory.read_text().split()))
        memory.write_text(" ".join(map(str, keys)))
        reply = Frame({"count": len(keys)})
    elif do == "upsert":
        keys |= set(struct.unpack_from(f"<{frame.facts['count']}Q", frame.tail))
        memory.write_text(" ".join(map(str, keys)))
    elif do == "delete":
        keys -= set(struct.unpack(f"<{len(frame.tail) // 8}Q", frame.tail))
        memory.write_text(" ".join(map(str, keys)))
    elif do == "count":
        reply = Frame({"count": len(keys) + (mode == "lie about the count")})
    elif do == "query":
        found = sorted(keys)[: frame.facts["limit"]]
        tail = struct.pack(f"<{len(found)}Q", *found) + struct.pack(f"<{len(found)}f", *[0.25] * len(found))
        reply = Frame({"count": len(found)}, tail)
    write_frame(sys.stdout.buffer, reply)
"""
