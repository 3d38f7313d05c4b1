"""Messages between two ranks, requests, and what waits for them."""

import asyncio
import gc
import os
import re
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import weakref
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI
from support import WispTest


IS_INTEL_BY_ABI = os.environ.get("MPI4PY_MPIABI") == "mpiabi" and "Intel" in MPI.Get_library_version()


class Field(np.ndarray[Any, np.dtype[Any]]):
    """An array that takes attributes."""

    held: Any


class RequestsTest(WispTest):
    def setUp(self) -> None:
        self.right = (self.world.rank + 1) % self.world.size
        self.left = (self.world.rank - 1) % self.world.size

    def test_cycles_through_requests_are_collected(self) -> None:
        field = np.zeros((4, 4)).view(Field)
        field.held = self.world.Bcast_init(field)
        gone = weakref.ref(field)
        del field
        gc.collect()
        self.assertIsNone(gone())
        sent = self.world.isend([np.zeros(4).view(Field)], self.right, 3)
        request = self.world.irecv(source=self.left, tag=3)
        got = request.wait()
        got.append(request)
        gone = weakref.ref(got[0])
        del got, request
        gc.collect()
        self.assertIsNone(gone())
        sent.wait()

    def test_messages(self) -> None:
        data, got = np.full(3, self.world.rank), np.zeros(3, int)
        mpi_status = MPI.Status()
        status = self.world.Sendrecv(data, self.right, 4, got, self.left, 4, mpi_status)
        self.assert_same(got, [self.left] * 3)
        self.assertEqual((status.source, status.tag, status.count(MPI.LONG)), (self.left, 4, 3))
        self.assertEqual((mpi_status.source, mpi_status.tag, mpi_status.Get_count(MPI.LONG)), (self.left, 4, 3))
        for send in (self.world.Isend, self.world.Issend):
            got[:] = -1
            sent = send(data, self.right, tag=5)
            self.assertEqual(self.world.Probe(tag=5).bytes, got.nbytes)
            self.assertEqual(self.world.Recv(got, tag=5).source, self.left)
            sent.wait()
            self.assert_same(got, [self.left] * 3)
        self.assertIsNone(self.world.Iprobe(tag=77))
        coming = [self.world.Irecv(got, self.left, 6), self.world.irecv(source=self.left, tag=7)]
        self.assertIsNone(coming[0].test())
        self.world.Barrier()
        self.world.Ssend(data, self.right, 6)
        self.world.ssend({"from": self.world.rank}, self.right, 7)
        self.assertEqual(wisp.wait_all(coming)[1], {"from": self.left})
        self.assert_same(got, [self.left] * 3)
        again = self.world.Ssend_init(data, self.right, 8)
        for _ in range(2):
            coming = [self.world.Irecv(got, self.left, 8)]
            again.start()
            wisp.wait_all([again, *coming])
        self.world.send("an object", self.right, 9)
        self.assertEqual(self.world.probe(tag=9).source, self.left)
        self.assertIsNotNone(self.world.iprobe(self.left, 9))
        self.assertEqual(self.world.recv(source=self.left, tag=9), "an object")
        self.assertEqual(self.world.get_failed(), [])
        comm = self.world.range(0, self.world.size - 1)
        comm.name = "all of them"
        self.assertEqual((comm.name, comm.Get_rank(), comm.Get_size()), ("all of them", self.world.rank, self.world.size))
        sending, receive = self.world.Send_init(data, self.right, 6), self.world.Recv_init(got, self.left, 6)
        for i in range(3):
            data[:] = i
            receive.start()
            sending.start()
            wisp.wait_all([sending, receive])
            self.assert_same(got, [i] * 3)
        with self.assertRaisesRegex(wisp.Error, "Send.*dest|destination = 99"):
            self.world.Send(data, 99)

    def test_any_order(self) -> None:
        buffers = [np.full(2, self.world.rank + i) for i in range(5)]
        requests = [self.world.Ibcast(buf, 0) for buf in buffers]
        seen = set()
        while (ended := wisp.wait_any(iter(requests))) is not None:
            seen.add(ended[0])
        self.assertEqual(seen, set(range(5)))
        for i, buf in enumerate(buffers):
            self.assert_same(buf, [i] * 2)

    def test_await(self) -> None:
        async def ring(i: int) -> Any:
            data, got = np.full(2, i + self.world.rank), np.zeros(2, int)
            status, _ = await asyncio.gather(self.world.Irecv(got, self.left, i), self.world.Isend(data, self.right, i))
            self.assert_same(got, [i + self.left] * 2)
            return status.source

        async def all_at_once() -> Any:
            return await asyncio.gather(*(ring(i) for i in range(50)))

        self.assertEqual(asyncio.run(all_at_once()), [self.left] * 50)

        async def wait(request: "wisp.Request[Any]") -> Any:
            return await request

        async def two_wait_for_one() -> Any:
            request = self.world.Irecv(np.zeros(1), self.left, 98)
            waiting = asyncio.gather(wait(request), wait(request))
            await self.world.Isend(np.ones(1), self.right, 98)
            return await waiting

        self.assertEqual([(one.source, one.bytes) for one in asyncio.run(two_wait_for_one())], [(self.left, 8)] * 2)

    def test_a_dropped_request_runs_on_and_keeps_its_buffers_until_it_ends(self) -> None:
        got = np.zeros(100_000)
        before = sys.getrefcount(got)
        self.world.Irecv(got, self.left, 3)
        self.assertGreater(sys.getrefcount(got), before)
        self.world.Isend(np.full(100_000, 7.0), self.right, 3)
        gc.collect()
        while sys.getrefcount(got) > before:
            self.world.Iprobe()
        self.assertTrue((got == 7).all())
        self.world.Barrier()

    def test_results_that_nobody_takes(self) -> None:
        for _ in range(20):
            wisp.isort(np.random.default_rng(self.world.rank).random(3000))
            self.world.isplit("all")
            self.world.Iexchange({0: b"block"})
        self.world.Barrier()
        self.world.Barrier()

    def test_a_result_stays(self) -> None:
        request = wisp.isort(np.arange(100.0))
        first = request.wait()
        self.assertIs(request.wait(), first)
        self.assertIs(request.test(), first)
        given: list[Any] = []
        shared = wisp.isort(np.arange(1000.0))
        threads = [threading.Thread(target=lambda: given.append(shared.wait())) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({id(one) for one in given}, {id(given[0])})
        data = bytearray(4)
        done = self.world.Ibcast(data, 0)
        done.wait()
        data.extend(b"more")  # it is the caller's again

        async def again(ended: "wisp.Request[Any]") -> Any:
            return await ended

        self.assertIs(asyncio.run(again(request)), first)
        self.assertEqual(wisp.Error("of Python's").error_class, MPI.ERR_OTHER)
        self.assertIn(f"of {self.world.size}", repr(self.world))

    @unittest.skipIf(IS_INTEL_BY_ABI, "Intel's library for the standard ABI returns no errors")
    def test_a_failure_is_told_to_whoever_asks(self) -> None:
        self.world.Send(np.zeros(4), self.right, 6)
        failing = self.world.Irecv(np.zeros(1), self.left, 6)
        for call in (failing.wait, failing.wait, failing.test, lambda: wisp.wait_all([failing])):
            with self.assertRaises(wisp.Error) as raised:
                call()
            self.assertEqual(raised.exception.error_class, MPI.ERR_TRUNCATE)

        async def ask() -> Any:
            return await failing

        with self.assertRaisesRegex(wisp.Error, re.escape(str(raised.exception))):
            asyncio.run(ask())

    def test_buffers_in_a_cycle_are_held_while_they_are_in_use(self) -> None:
        class Memory(bytearray):
            """That can be watched."""

        class Reader:
            def __init__(self, comm: wisp.Comm, source: int, memory: Memory) -> None:
                self.buffer = memoryview(memory)
                self.request = comm.Irecv(self.buffer, source, 7)
                self.myself = self

        memory = Memory(64)
        held = weakref.ref(memory)
        reader = Reader(self.world, self.left, memory)
        gone = weakref.ref(reader)
        del reader, memory
        gc.collect()
        self.assertIsNone(gone())
        self.assertIsNotNone(held())  # it runs on, and reads into this
        self.world.Barrier()
        self.world.Send(np.arange(8.0), self.right, 7)
        end = time.monotonic() + 60
        while held() is not None and time.monotonic() < end:
            self.world.Iprobe(tag=7)
        self.assertIsNone(held())

    def test_an_interrupted_wait_can_be_waited_for_again(self) -> None:
        def interrupt(*_: Any) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        data = np.random.default_rng(self.world.rank).random(100_000)
        request: Any = wisp.isort(data)
        got = np.zeros(1)
        message = self.world.Irecv(got, self.left, 8)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with self.assertRaises(KeyboardInterrupt):
            message.wait()
        with self.assertRaises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            self.world.Recv(got, self.left, 9)
        signal.signal(signal.SIGALRM, before)
        self.world.Barrier()
        self.world.Send(np.ones(1), self.right, 9)  # what nobody waits for any more takes it
        self.world.Send(np.full(1, 5.0), self.right, 8)
        message.wait()
        self.assertEqual(got[0], 5)
        part = request.wait()
        self.assertTrue((np.diff(part) >= 0).all())

    def test_a_request_outlives_its_communicator(self) -> None:
        comm = self.world.range(0, self.world.size - 1)
        data = np.full(4, self.world.rank)
        request = comm.Bcast_init(data, 0)
        del comm
        gc.collect()
        for _ in range(2):
            request.start()
            request.wait()
            self.assert_same(data, [0] * 4)
        with self.assertRaisesRegex(wisp.Error, "not persistent"):
            self.world.Ibarrier().start()

    def test_others_run_while_one_waits(self) -> None:
        steps = 0
        done = threading.Event()

        def count() -> None:
            nonlocal steps
            while not done.is_set():
                steps += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        got = np.zeros(1)
        if self.world.rank == 0:
            time.sleep(0.2)
            for r in range(1, self.world.size):
                self.world.Send(np.ones(1), r)
        else:
            self.world.Recv(got, 0)
        done.set()
        thread.join()
        self.assertGreater(steps, 5)

    def test_a_wait_that_lasts_says_why(self) -> None:
        if self.world.size != 2:
            return
        mpi = MPI.COMM_WORLD.Dup()
        with unittest.mock.patch.dict(os.environ, WISP_STALL_SECONDS="0.5"):
            patient = wisp.Comm(mpi)
        text = b""
        with tempfile.NamedTemporaryFile() as said:
            name = MPI.COMM_WORLD.bcast(said.name)
            word = np.zeros(1)
            if self.world.rank == 0:
                kept = os.dup(2)
                os.dup2(said.fileno(), 2)
                try:
                    patient.Recv(word, 1)
                finally:
                    os.dup2(kept, 2)
                    os.close(kept)
                said.seek(0)
                text = said.read()
            else:
                end = time.monotonic() + 60
                while os.path.getsize(name) == 0 and time.monotonic() < end:
                    time.sleep(0.1)
                patient.Send(word, 0)
            MPI.COMM_WORLD.Barrier()
        mpi.Free()
        if self.world.rank == 0:
            self.assertIn(b"rank 0 waits in wisp::Comm", text)

    def test_two_threads_wait_on_two_communicators(self) -> None:
        comms = [self.world.range(0, self.world.size - 1) for _ in range(2)]
        sums = [np.zeros(1), np.zeros(1)]

        def work(i: int) -> None:
            for _ in range(50):
                comms[i].Allreduce(np.full(1, i + 1.0), sums[i])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assert_same(np.concatenate(sums), [self.world.size, 2 * self.world.size])
