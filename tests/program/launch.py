"""Starts ranks of the program."""
import signal
import subprocess


def launch(command, timeout, **options):
    """As subprocess.run, up to three times: where several ranks end with an error at one time, the mpirun of Open MPI 4.1
    now and then falls over itself, or waits for ever. (One that tells of a rank that did so has another code.)"""
    for is_last in (False, False, True):
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
        except subprocess.TimeoutExpired:
            if is_last:
                raise
            continue
        if result.returncode != -signal.SIGSEGV or is_last:
            return result
