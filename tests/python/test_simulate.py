"""async functions on the simulated cluster."""

import asyncio
import gc
import weakref
from typing import Any

import numpy as np
import wisp
from support import Array, WispTest


async def wait_for(request: wisp.Request[Any]) -> Any:
    return await request


class SimulateTest(WispTest):
    def test_collectives_and_messages(self) -> None:
        async def program(comm: wisp.Comm) -> Any:
            r, p = comm.rank, comm.size
            buf, total, got = np.full(3, r), np.zeros(3, int), np.zeros(3, int)
            await comm.Ibcast(buf, p - 1)
            await comm.Iallreduce(buf, total)
            half = comm.range(0, p // 2) if r <= p // 2 else comm.range(p // 2, p - 1)
            sent = comm.Isend(np.full(3, r), (r + 1) % p)
            status = await comm.Irecv(got, (r - 1) % p)
            await sent
            blocks = await comm.Iexchange([(0, bytes([r % 250]))])
            ordered = await wisp.isort(np.array([(7 * r) % p, r]), comm)
            return int(total[0]), status.source, half.size, len(blocks), ordered.tolist()

        for p in (2, 3, 7, 33):
            report = wisp.simulate(program, p, jitter=1e-6, seed=p)
            whole: list[int] = sum((result[4] for result in report.results), [])
            self.assertEqual(whole, sorted(whole))
            for r, result in enumerate(report.results):
                self.assertEqual(result[:2], (p * (p - 1), (r - 1) % p))
                self.assertEqual(result[3], p if r == 0 else 0)
            self.assertGreater(report.seconds, 0)
            self.assertGreater(report.messages, p)
            self.assertEqual(report, wisp.simulate(program, p, jitter=1e-6, seed=p))

    def test_thousands_of_ranks(self) -> None:
        async def program(comm: wisp.Comm) -> float:
            buf = np.zeros(1)
            wisp.simulated_work(comm, 1e-3)
            await comm.Ibcast(buf, 0)
            return wisp.simulated_time(comm)

        report = wisp.simulate(program, 4096)
        self.assertEqual(report.messages, 4095)
        self.assertLessEqual(report.rounds, 12)
        self.assertGreater(min(report.results), 1e-3)

    def test_what_a_request_raises_is_raised_where_it_is_awaited(self) -> None:
        async def program(comm: wisp.Comm) -> str:
            sent = comm.Isend(b"no pickle", (comm.rank + 1) % comm.size)
            try:
                await comm.irecv()
            except Exception as error:
                await sent
                return type(error).__name__
            return "nothing"

        self.assertEqual(set(wisp.simulate(program, 3).results), {"UnpicklingError"})

    def test_what_outlives_a_simulation(self) -> None:
        async def program(comm: wisp.Comm) -> wisp.Comm:
            await comm.Ibarrier()
            return comm

        kept = wisp.simulate(program, 3).results
        for call in (kept[0].Ibarrier, kept[1].Iprobe, lambda: kept[2].Isend(np.zeros(1), 1)):
            with self.assertRaisesRegex(wisp.Error, "has been freed"):
                call()
        del kept

        arrays: list[weakref.ref[Array]] = []

        async def fails(comm: wisp.Comm) -> None:
            array = np.zeros(9)
            arrays.append(weakref.ref(array))
            await comm.Irecv(array, (comm.rank + 1) % comm.size)

        with self.assertRaises(wisp.Error):
            wisp.simulate(fails, 3)
        gc.collect()
        self.assertEqual([array() for array in arrays], [None] * 3)

    def test_a_request_outlives_who_awaits_it(self) -> None:
        kept: list[Any] = []

        async def program(comm: wisp.Comm) -> None:
            if comm.rank == 2:
                raise KeyError("mine")
            kept.append(comm.Irecv(np.zeros(1), 1 - comm.rank))
            await kept[-1]

        for ranks, error in ((2, wisp.Error), (3, KeyError)):
            with self.assertRaises(error):
                wisp.simulate(program, ranks)
        self.assertEqual(len(kept), 4)

    def test_errors(self) -> None:
        async def raises(comm: wisp.Comm) -> None:
            if comm.rank == 2:
                raise KeyError("mine")
            await comm.Ibarrier()

        with self.assertRaisesRegex(KeyError, "mine"):
            wisp.simulate(raises, 4)

        async def wrong(comm: wisp.Comm) -> str:
            try:
                await comm.Ibcast(np.zeros(1), 9)
            except wisp.Error as error:
                return str(error)
            return ""

        self.assertIn("root = 9", wisp.simulate(wrong, 2).results[0])

        async def deadlock(comm: wisp.Comm) -> None:
            await comm.Irecv(np.zeros(1), (comm.rank + 1) % comm.size)

        with self.assertRaisesRegex(wisp.Error, "rank"):
            wisp.simulate(deadlock, 2)

        async def blocks(comm: wisp.Comm) -> None:
            comm.Barrier()

        with self.assertRaisesRegex(wisp.Error, "await the request"):
            wisp.simulate(blocks, 2)

        async def probes(comm: wisp.Comm) -> None:
            comm.Probe(0)

        with self.assertRaisesRegex(wisp.Error, "cannot wait"):
            wisp.simulate(probes, 2)

        async def sorts(comm: wisp.Comm) -> None:
            wisp.sort(np.zeros(3), comm)

        with self.assertRaisesRegex(wisp.Error, "await the request"):
            wisp.simulate(sorts, 2)

        async def drops(comm: wisp.Comm) -> Any:
            wisp.isort(np.random.default_rng(comm.rank).random(2000), comm)
            await comm.Ibarrier()
            return comm, comm.Ibcast(np.zeros(1), 0)

        try:
            comm, request = wisp.simulate(drops, 8).results[1]
        except wisp.Error as error:
            self.assertIn("never", str(error))
        else:
            for late in (lambda: wisp.simulated_time(comm), lambda: comm.Barrier(), lambda: request.wait(), lambda: asyncio.run(wait_for(request))):
                with self.assertRaisesRegex(wisp.Error, "freed"):
                    late()
        for name, value in [("latency", -1), ("bandwidth", 0), ("jitter", float("nan")), ("seed", -1), ("ranks", 0)]:
            with self.assertRaisesRegex(ValueError, f"{name} = "):
                wisp.simulate(probes, **{"ranks": 2, name: value})  # type: ignore[arg-type]

        async def sleeps(comm: wisp.Comm) -> None:
            await asyncio.sleep(0)

        with self.assertRaisesRegex(TypeError, "nothing else"):
            wisp.simulate(sleeps, 2)
        with self.assertRaisesRegex(TypeError, "not async"):
            wisp.simulate(lambda comm: 3, 2)  # type: ignore
