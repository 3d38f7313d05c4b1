"""The heat equation in three dimensions: a cube cut into boxes, one for each rank, with a ghost layer around each.

    mpirun -n 8 python heat.py [picture.png]
"""

import sys
from typing import Any

import numpy as np
import wisp
from mpi4py import MPI

points, steps, rate = 48, 100, 0.15
world = wisp.Comm(MPI.COMM_WORLD)
boxes = wisp.Neighborhood(world, [0, 0, 0], periods=[1, 1, 0])  # a torus in x and y, cold below and above

# The inside of my box, and where it is in the cube.
first = [points * c // n for c, n in zip(boxes.coordinates, boxes.dims)]
last = [points * (c + 1) // n for c, n in zip(boxes.coordinates, boxes.dims)]
heat: Any = np.zeros([b - a + 2 for a, b in zip(first, last)])
inside = (slice(1, -1),) * 3
x, y, z = np.meshgrid(*(np.arange(a, b) + 0.5 for a, b in zip(first, last)), indexing="ij")
heat[inside] = np.where((x - 10) ** 2 + (y - 24) ** 2 + (z - 24) ** 2 < 60, 1.0, 0.0)

halo = boxes.halo(heat, 1)  # the array and the width of its ghost layers
for _ in range(steps):
    halo.exchange()
    around = (heat[:-2, 1:-1, 1:-1] + heat[2:, 1:-1, 1:-1] + heat[1:-1, :-2, 1:-1]
              + heat[1:-1, 2:, 1:-1] + heat[1:-1, 1:-1, :-2] + heat[1:-1, 1:-1, 2:])  # fmt: skip
    heat[inside] += rate * (around - 6 * heat[inside])

total = np.zeros(1)
world.Allreduce(heat[inside].sum(keepdims=True).ravel(), total)
parts = world.gather((first, heat[inside].copy()))
if parts is not None:
    cube = np.zeros([points] * 3)
    for (i, j, k), box in parts:
        cube[i : i + box.shape[0], j : j + box.shape[1], k : k + box.shape[2]] = box
    print(f"{world.size} boxes of {boxes.dims}: heat {total[0]:.3f}, hottest {cube.max():.4f}")
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        plt.imshow(cube[:, :, points // 2].T, origin="lower", cmap="inferno")
        plt.colorbar(label=f"heat after {steps} steps")
        plt.savefig(sys.argv[1], dpi=120)
