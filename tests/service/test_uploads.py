"""Files are read in a child process: whatever a file does to its reader, the service goes on."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from lexfuse.deadline import Deadline
from lexfuse.errors import DataError, OverloadError
from lexfuse.service import upload_child
from lexfuse.service.context import ServiceContext
from lexfuse.service.settings import ServiceSettings
from lexfuse.service.uploads import UploadReader

PATIENCE = 600.0


@pytest.fixture
def reader():
    made = UploadReader()
    yield made
    made.close()


def child_of(reader):
    [child] = reader._idle
    return child.process


def test_a_child_reads_one_file_after_another(reader):
    first = reader.read("Le préavis.".encode(), "a.txt", Deadline(PATIENCE))
    process = child_of(reader)
    assert first.text == "Le préavis."
    assert reader.read(b"<p>Held.</p>", "b.html", Deadline(PATIENCE)).text.strip() == "Held."
    assert child_of(reader).pid == process.pid


def test_what_is_wrong_with_a_file_is_told_as_ever(reader):
    with pytest.raises(DataError, match=r"^judgment\.txt: the file is empty"):
        reader.read(b"", "judgment.txt", Deadline(PATIENCE))
    assert reader.read(b"It goes on.", "b.txt", Deadline(PATIENCE)).text == "It goes on."


def test_a_child_that_is_killed_is_replaced(reader):
    reader.read(b"law", "a.txt", Deadline(PATIENCE))
    process = child_of(reader)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(DataError, match=r"^a\.txt: the file needs more than 1,024 MB of memory to read, or is damaged"):
        reader.read(b"law", "a.txt", Deadline(PATIENCE))
    assert reader.read(b"law", "a.txt", Deadline(PATIENCE)).text == "law"


def test_a_child_that_takes_too_much_processor_time_is_ended(reader):
    reader.read(b"law", "a.txt", Deadline(PATIENCE))
    process = child_of(reader)
    process.send_signal(signal.SIGXCPU)  # as the limit does
    process.wait()
    with pytest.raises(DataError, match="takes more than 25 seconds to read"):
        reader.read(b"law", "a.txt", Deadline(PATIENCE))


def test_a_child_has_limits_and_ends_with_the_service(reader):
    reader.read(b"law", "a.txt", Deadline(PATIENCE))
    process = child_of(reader)
    described = Path(f"/proc/{process.pid}/limits").read_text()
    limits = {line[:26].strip(): line[26:].split()[0] for line in described.splitlines()[1:]}
    assert limits["Max address space"] == str(upload_child.MEMORY)
    assert limits["Max file size"] == "0"
    assert limits["Max core file size"] == "0"
    assert limits["Max cpu time"].isdecimal()
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


def test_a_child_is_killed_at_the_deadline(reader):
    reader.read(b"law", "a.txt", Deadline(PATIENCE))
    process = child_of(reader)
    os.kill(process.pid, signal.SIGSTOP)  # it will not answer
    with pytest.raises(OverloadError, match="not done within"):
        reader.read(b"law", "a.txt", Deadline(0.05))
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert reader.read(b"law", "a.txt", Deadline(PATIENCE)).text == "law"


def test_uploads_hold_no_thread_that_searches(small):
    service = ServiceContext(small, ServiceSettings(workers=1, timeout_seconds=PATIENCE))

    async def asked():
        await service.read_upload(b"law", "a.txt")
        process = child_of(service._uploads)
        os.kill(process.pid, signal.SIGSTOP)
        reading = asyncio.create_task(service.read_upload(b"law", "a.txt"))
        assert await service.run(sum, [1, 2]) == 3  # done while the file is being read
        os.kill(process.pid, signal.SIGCONT)
        return await reading

    assert asyncio.run(asked()).text == "law"
    service.close()
