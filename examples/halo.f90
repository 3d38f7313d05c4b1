! A halo of subarrays: each rank has a part of a plane on a torus of ranks, with a border of one cell, which it gets
! from its four neighbors. Edges are plain subarrays of Fortran; no datatype is made, nothing copied.
program halo
  use mpi_f08
  use wisp
  implicit none
  integer, parameter :: n = 4, m = 3
  ! To the left, right, down and up: what goes there, and what comes from the opposite side.
  integer, parameter :: offsets(2, 4) = reshape([-1, 0, 1, 0, 0, -1, 0, 1], [2, 4])
  type(WISP_Comm) :: world
  type(WISP_Neighborhood) :: torus
  type(WISP_Request) :: requests(8)
  integer :: dims(2), rank, ranks, sources(4), targets(4), wrong, i
  integer, asynchronous :: cells(0:n + 1, 0:m + 1)

  call MPI_Init()
  call WISP_Comm_duplicate(MPI_COMM_WORLD, world)
  call WISP_Comm_rank(world, rank)
  call WISP_Comm_size(world, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call WISP_Neighborhood_create(world, 2, dims, s=4, offsets=offsets, neighborhood=torus)
  call WISP_Neighborhood_get(torus, 4, sources, targets)

  cells = -1
  cells(1:n, 1:m) = rank
  call WISP_Irecv(cells(n + 1, 1:m), m, MPI_INTEGER, sources(1), 1, world, requests(1))
  call WISP_Irecv(cells(0, 1:m), m, MPI_INTEGER, sources(2), 2, world, requests(2))
  call WISP_Irecv(cells(1:n, m + 1), n, MPI_INTEGER, sources(3), 3, world, requests(3))
  call WISP_Irecv(cells(1:n, 0), n, MPI_INTEGER, sources(4), 4, world, requests(4))
  call WISP_Isend(cells(1, 1:m), m, MPI_INTEGER, targets(1), 1, world, requests(5))
  call WISP_Isend(cells(n, 1:m), m, MPI_INTEGER, targets(2), 2, world, requests(6))
  call WISP_Isend(cells(1:n, 1), n, MPI_INTEGER, targets(3), 3, world, requests(7))
  call WISP_Isend(cells(1:n, m), n, MPI_INTEGER, targets(4), 4, world, requests(8))
  call WISP_Waitall(8, requests, MPI_STATUSES_IGNORE)

  wrong = count(cells(n + 1, 1:m) /= sources(1)) + count(cells(0, 1:m) /= sources(2)) &
      + count(cells(1:n, m + 1) /= sources(3)) + count(cells(1:n, 0) /= sources(4)) + count(cells(1:n, 1:m) /= rank)
  call WISP_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, world)
  if (rank == 0) print "(3(a, i0))", "halo of ", dims(1), " x ", dims(2), " ranks, wrong cells: ", wrong
  do i = 1, 8
    if (.not. requests(i) == WISP_Request()) error stop "a request is left"
  end do
  call WISP_Neighborhood_free(torus)
  call WISP_Comm_free(world)
  call MPI_Finalize()
  if (wrong > 0) error stop
end program
