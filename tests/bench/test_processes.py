"""Several pieces of work at a time: none outlives the command that asked for it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"

WORKERS = """
import os
from time import sleep
from spanwise.bench.processes import each

def work(task):
    print(os.getpid(), flush=True)
    sleep(600)

if __name__ == "__main__":
    list(each(work, ["one", "other"], 2))
"""
"""Two workers that tell who they are and are not done for long."""


def test_workers_end_when_the_process_that_started_them_is_killed(tmp_path):
    """What it printed to is at its end only once nobody is left who could print there."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    with subprocess.Popen([sys.executable, script], env=environment, stdout=subprocess.PIPE, text=True) as parent:
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
        try:
            parent.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            for worker in workers:
                os.kill(worker, signal.SIGTERM)
            raise
